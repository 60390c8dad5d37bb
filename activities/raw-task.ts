/** A compiled task written back in the words of a spec, so that it can be checked again together with a new or amended one. */
import type { TaskSpec } from '../spec/model.ts';

export function rawTask(task: TaskSpec): Record<string, unknown> {
  const { run, script, tests, interface: contract, ...rest } = task;
  return {
    ...rest,
    ...(contract === '' ? {} : { interface: contract }),
    tests: Object.fromEntries(Object.entries(tests).map(([path, content]) => [path, { content }])),
    ...(run === null ? {} : { run }),
    ...(script === null
      ? {}
      : { script: script.map(({ edits, waitMs, exitCode }) => ({ edits, wait: `${waitMs}ms`, exitCode })) }),
  };
}
