/** One task checked as part of the whole plan: added, or changed, by a person or for an agent that asked. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listFiles, readFileAt } from '../mainline/git.ts';
import type { Hub } from '../mainline/hub.ts';
import type { TaskSpec } from '../spec/model.ts';
import { presetTestPaths } from '../spec/preset-tests.ts';
import { isFinal } from '../spec/task-state.ts';
import { validateSpec } from '../spec/validate.ts';
import { listTasks, loadTask } from '../store/index.ts';
import type { AdmissionDeps } from './admission-deps.ts';
import { badSpec } from './bad-spec.ts';
import { rawTask } from './raw-task.ts';

type Files = { readonly files: readonly string[]; readonly fileContent: (path: string) => string | null };

/** Where a run's spec is kept as it was given. */
export const rawSpecPath = (hubRoot: string, run: string): string => join(hubRoot, `${run}.spec.json`);

/** What the base commit holds, for globs and preset tests named by path. */
export async function filesAtBase(hub: Hub, raw: unknown): Promise<Files> {
  const { base } = await hub.heads();
  const files = await listFiles(hub.dir, base);
  const contents = new Map<string, string>();
  for (const path of presetTestPaths(raw, files)) {
    const content = await readFileAt(hub.dir, base, path);
    if (content !== null) contents.set(path, content.toString('utf8'));
  }
  return { files, fileContent: (path) => contents.get(path) ?? null };
}

/** Checks a task as part of the whole plan. What is final cannot run together with it and is left out. */
export async function admitAlone(
  deps: AdmissionDeps,
  run: string,
  raw: unknown,
  replaces: string | null,
): Promise<TaskSpec> {
  const header = JSON.parse(await readFile(rawSpecPath(deps.hubRoot, run), 'utf8')) as Record<string, unknown>;
  const rows = await listTasks(deps.db, run);
  const finished = new Set(rows.filter(({ state }) => isFinal(state)).map(({ id }) => id));
  const open = rows.filter(({ id }) => !finished.has(id) && id !== replaces).map(({ id }) => id);
  const others = await Promise.all(open.map(async (id) => (await loadTask(deps.db, run, id))!.spec));
  const without = (ids: unknown): unknown =>
    Array.isArray(ids) ? ids.filter((id) => !finished.has(id as string)) : ids;
  const given = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>;
  const tasks = [
    ...others.map((spec) => ({ ...rawTask(spec), dependsOn: without(spec.dependsOn) })),
    { ...given, dependsOn: without(given['dependsOn'] ?? []) },
  ];
  const hub = await deps.hub(run);
  const rest = headerOf(header);
  const { spec, problems } = validateSpec({ ...rest, tasks }, await filesAtBase(hub, tasks));
  const place = `tasks[${tasks.length - 1}]`;
  const own = problems.map((problem) => ({ ...problem, path: problem.path.replace(place, 'task') }));
  if (spec === null || own.length > 0) throw badSpec(own);
  const task = spec.tasks.at(-1)!;
  const kept = Array.isArray(given['dependsOn'])
    ? (given['dependsOn'] as string[]).filter((id) => finished.has(id))
    : [];
  return { ...task, dependsOn: [...kept, ...task.dependsOn] };
}

/** A spec's fields apart from its tasks and what names tasks: those that are final are not in the list that is checked. */
function headerOf(raw: Record<string, unknown>): Record<string, unknown> {
  const { fanOut: _fanOut, policy, ...rest } = raw;
  const { scaffold: _scaffold, breaks: _breaks, ...others } = (policy ?? {}) as Record<string, unknown>;
  return { ...rest, policy: others };
}
