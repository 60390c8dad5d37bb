/**
 * From what the agent left behind to a commit in the hub, or the reason why not.
 *
 * 1. The tree is collected only when the container is gone, and judged as stored objects, whatever happens in the directory.
 * 2. What the agent did to preset tests is undone before anything is judged or kept.
 * 3. Nothing here needs the store: when it is away, the finished work still reaches the hub.
 */
import { messageWithTrailers } from '../mainline/commit.ts';
import { IntakeRefused } from '../mainline/errors.ts';
import { diffTrees, gitText, writeCommit } from '../mainline/git.ts';
import { MERGES } from '../mainline/line.ts';
import { listDirectories } from '../mainline/tree.ts';
import { InfrastructureFault } from '../sandbox/faults.ts';
import { putFiles } from '../sandbox/overlay.ts';
import type { AgentResult, CompiledSpec, TaskSpec } from '../spec/model.ts';
import { checkScope, scopeRules } from '../spec/scope.ts';
import type { ScopeViolation, TreeChange } from '../spec/scope.ts';
import { WHY_CHARS } from './agent-attempt.ts';
import type { Attempt, Done, Red } from './agent-attempt.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { Running } from './running.ts';

/** @param startTree what was checked out: the base with the preset tests over it */
export async function takeTree(
  attempt: Attempt,
  dir: string,
  startTree: string,
  deps: AttemptDeps,
  running: Running,
): Promise<Done> {
  const { spec, task, scratch } = attempt;
  running.report({ phase: 'collecting' });
  const collected = await deps.collectTree({
    dir,
    gitDir: scratch.gitDir,
    objectDir: scratch.objectDir,
    baseTree: startTree,
    limits: { diskBytes: spec.sandbox.limits.diskBytes },
    leaveOut: spec.sandbox.setup === null ? [] : [spec.sandbox.setup.provides],
    signal: running.signal,
  });
  if ('refused' in collected) {
    return scopeRed([{ rule: collected.refused, path: collected.path, message: collected.message }]);
  }
  const tree = await putFiles(scratch.gitDir, collected.tree, task.tests);
  const changes = await diffTrees(scratch.gitDir, startTree, tree);
  if (changes.length === 0 && !task.mayBeEmpty) {
    return { cause: 'nothing-done', why: 'The agent ended without an error but changed no file.' };
  }
  const violations = await outOfScope(scratch.gitDir, tree, changes, spec, task);
  if (violations.length > 0) return scopeRed(violations);
  return submit(attempt, tree, changes.length, deps, running);
}

/** What merges by itself, without an agent. */
export async function takeMerged(attempt: Attempt, tree: string, deps: AttemptDeps, running: Running): Promise<Done> {
  const { spec, task, base, scratch } = attempt;
  const changes = await diffTrees(scratch.gitDir, base, tree);
  if (changes.length === 0)
    return { cause: 'nothing-done', why: 'Merged with what has landed, nothing of it is left.' };
  const violations = await outOfScope(scratch.gitDir, tree, changes, spec, task);
  return violations.length > 0 ? scopeRed(violations) : submit(attempt, tree, changes.length, deps, running);
}

async function outOfScope(
  gitDir: string,
  tree: string,
  changes: TreeChange[],
  spec: CompiledSpec,
  task: TaskSpec,
): Promise<ScopeViolation[]> {
  const dirs = new Set(changes.flatMap((change) => directoriesOf(change.path)));
  const names = await listDirectories(gitDir, tree, [...dirs]);
  const rules = scopeRules(spec, task, (dir) => names.get(dir) ?? []);
  return checkScope(changes, rules);
}

function directoriesOf(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(0, at).join('/'));
}

function scopeRed(violations: readonly { rule: string; path: string; message: string }[]): Red {
  const lines = violations.map(({ rule, path, message }) => `${path}: ${message} [${rule}]`);
  const whole = lines.join('; ');
  const why = whole.length > WHY_CHARS ? `${whole.slice(0, WHY_CHARS)}… (${lines.length} in all)` : whole;
  return { cause: 'scope', why, violations: `${lines.join('\n')}\n` };
}

/**
 * A pack that the hub refuses is the attempt's fault, the same at every try; one under another commit means that the attempt has a
 * result already.
 */
async function submit(
  { key, task, base, scratch, role, merge }: Attempt,
  tree: string,
  changed: number,
  deps: AttemptDeps,
  running: Running,
): Promise<Done> {
  running.report({ phase: 'submitting' });
  const message = messageWithTrailers(task.goal.trim() === '' ? key.task : task.goal, [
    ['Swarmline-Task', key.task],
    ['Swarmline-Attempt', String(key.attempt)],
    ['Swarmline-Engine', role.engine],
    ...(merge === undefined || merge.merges.length === 0 ? [] : [[MERGES, merge.merges.join(' ')] as const]),
  ]);
  const commit = await writeCommit(scratch.gitDir, { tree, parents: [base], message, atMs: deps.now() });
  try {
    const pack = { gitDir: scratch.gitDir, objectDir: scratch.objectDir, commit, base };
    await deps.hub.submit(key, pack, running.signal);
    return { commit, base, changed };
  } catch (error) {
    if (!(error instanceof IntakeRefused)) throw error;
    if (error.rule === 'unknown-base') {
      throw new InfrastructureFault('The commit that the attempt started from is no longer in the hub.');
    }
    const other = error.rule === 'other-commit' ? await deps.hub.find(key) : null;
    if (other === null) return { cause: 'refused', why: refusal(error) };
    const stands = await resultInHub(key.run, other, deps, running);
    return { commit: stands.commit, base: stands.base, changed: stands.changed };
  }
}

function refusal({ path, message, rule }: IntakeRefused): string {
  return `The mainline does not take its tree: ${path === '' ? '' : `${path}: `}${message} [${rule}]`;
}

/** The result of an attempt whose commit is in the hub though nobody recorded it (the worker died between the two). */
export async function resultInHub(
  run: string,
  commit: string,
  deps: AttemptDeps,
  running: Running,
): Promise<Extract<AgentResult, { ok: true }>> {
  const gitDir = await deps.hub.ensure(run, [commit], running.signal);
  const base = await gitText(gitDir, ['rev-parse', '--verify', `${commit}^1`]);
  return { ok: true, commit, base, changed: (await diffTrees(gitDir, base, commit)).length };
}
