/** Which files of the base commit a spec wants as preset tests: the caller reads them before it validates. */
import { expandFanOut } from './fan-out.ts';
import { MAX_TASKS } from './fields-task.ts';
import { specFields, type RawSpec } from './fields.ts';

/** Paths that `tests` of tasks and of expanded fan-outs name, existing ones only, each once. Never throws. */
export function presetTestPaths(input: unknown, files: readonly string[]): string[] {
  const raw = specFields.lenient.parse(input);
  const known = new Set(files);
  const wanted = new Set<string>();
  const collect = (tests: RawSpec['tasks'][number]['tests']): void => {
    for (const test of Object.values(tests)) if (typeof test === 'string' && known.has(test)) wanted.add(test);
  };
  for (const task of raw.tasks) collect(task.tests);
  for (const fanOut of raw.fanOut) {
    if (Object.keys(fanOut.task.tests).length === 0) continue;
    for (const { task } of expandFanOut(fanOut, files, MAX_TASKS)) collect(task.tests);
  }
  return [...wanted];
}
