/** Everything that `temporal workflow start --type …` can name. */
export { runSpec } from './run-spec.ts';
export { mainline } from './mainline.ts';
export { planNode } from './plan-node.ts';
export { wave } from './wave.ts';
export { executeTask } from './execute-task.ts';
export { collectGarbage, deliverRun } from './upkeep.ts';
