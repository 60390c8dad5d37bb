/**
 * Decisions that decide the same are brought together: one task for each two, and one of the two stands afterwards.
 *
 * 1. A pair is found by subject, by interface, or by a reconciler (ask-reconciler.ts), and makes one task however often it is found.
 * 2. A decision that nothing refers to needs no task: the later one gives way to the earlier.
 * 3. When the task has landed, the decision stands that it recorded itself, else the one that is still referred to, else the earlier.
 */
import { grepTree } from '../mainline/git.ts';
import type { Hub } from '../mainline/hub.ts';
import { anyGlob } from '../spec/globs.ts';
import type { PlanTask, RoleName } from '../spec/model.ts';
import { clashes, decisionReferences, reconcileId, reconcileTask } from '../spec/plan/index.ts';
import type { Clash, PlanState } from '../spec/plan/index.ts';
import { REFERENCE_MARK } from '../spec/plan/references.ts';
import { mayWrite } from '../spec/scope.ts';
import { isFinal } from '../spec/task-state.ts';
import {
  addLogEntry,
  inTransaction,
  listLogEntries,
  loadPlan,
  lockPlan,
  nextTaskIndex,
  saveTasks,
  supersedeDecision,
} from '../store/index.ts';
import type { Db, Pool } from '../store/index.ts';
import { planTask } from './plan-task.ts';
import { CLASHES } from './ask-reconciler.ts';
import type { MainlineActivities } from './contract.ts';

const FILE_BYTES = 1024 * 1024;
/** Engines that ask no model cannot reconcile. */
const NO_MODEL: ReadonlySet<string> = new Set(['command', 'scripted', 'external']);

type References = ReadonlyMap<string, readonly string[]>;

export function createReconcileDecisions(deps: {
  readonly db: Pool;
  hub(run: string): Promise<Hub>;
}): MainlineActivities['reconcileDecisions'] {
  const { db } = deps;
  return async ({ run }) => {
    const hub = await deps.hub(run);
    const { dir } = hub;
    const { verified } = await hub.line();
    const files = await grepTree(dir, verified, REFERENCE_MARK, FILE_BYTES);
    const references = new Map<string, string[]>();
    for (const { path, text } of files)
      for (const { id } of decisionReferences(text))
        references.set(id, [...new Set([...(references.get(id) ?? []), path])]);
    return inTransaction(db, async (tx) => {
      await lockPlan(tx, run);
      const plan = await loadPlan(tx, run);
      const added: PlanTask[] = [];
      for (const clash of await allClashes(tx, run, plan)) {
        const task = plan.tasks.find(({ spec }) => spec.id === reconcileId(clash));
        if (task !== undefined && task.state !== 'passed') continue; // under way, or left by a person
        const made = task === undefined ? await addTask(tx, run, clash, plan, references) : null;
        if (made === null) await settle(tx, run, clash, plan, references);
        else added.push(made);
      }
      return added;
    });
  };
}

async function allClashes(db: Db, run: string, { decisions }: PlanState): Promise<Clash[]> {
  const standing = new Set(decisions.filter(({ supersededBy }) => supersededBy === null).map(({ id }) => id));
  const told = await listLogEntries(db, run, { kinds: [CLASHES], limit: 1_000 });
  const found = [...clashes(decisions), ...told.flatMap(({ data }) => data as Clash[])];
  const seen = new Set<string>();
  return found.filter((clash) => {
    const isNew = !seen.has(reconcileId(clash)) && standing.has(clash.a) && standing.has(clash.b);
    seen.add(reconcileId(clash));
    return isNew;
  });
}

/** null: nothing refers to either, or nobody could carry it out. */
async function addTask(
  db: Db,
  run: string,
  clash: Clash,
  plan: PlanState,
  references: References,
): Promise<PlanTask | null> {
  const { spec } = plan;
  const isProtected = anyGlob(spec.repository.protected);
  const files = [...new Set([clash.a, clash.b].flatMap((id) => references.get(id) ?? []))].filter(
    (path) => !isProtected(path),
  );
  const role: RoleName = spec.roles.reconciler === undefined ? 'worker' : 'reconciler';
  const { engine } = spec.roles[role] ?? spec.roles.worker;
  if (files.length === 0 || NO_MODEL.has(engine)) return null;
  // After whoever may write these files now: it brings together what they leave.
  const before = plan.tasks.filter(
    ({ state, spec: task }) => !isFinal(state) && files.some((path) => mayWrite(task, path)),
  );
  const task = {
    ...reconcileTask(clash, plan.decisions, files, role),
    dependsOn: before.map(({ spec: { id } }) => id),
  };
  const index = await nextTaskIndex(db, run);
  await saveTasks(db, run, [task], index);
  return planTask(task, index);
}

async function settle(db: Db, run: string, clash: Clash, plan: PlanState, references: References): Promise<void> {
  const { a, b } = clash;
  const task = reconcileId(clash);
  const own = plan.decisions.findLast(
    ({ owner, supersededBy }) => owner.startsWith(`${task}/`) && supersededBy === null,
  );
  const referred = [a, b].filter((id) => references.has(id));
  const stands = own?.id ?? (referred.length === 1 ? referred[0]! : a);
  for (const id of [a, b]) await supersedeDecision(db, run, id, stands);
  const message = `Of ${a} and ${b}, which decide the same, ${stands} stands`;
  await addLogEntry(db, { run, key: `reconciled/${task}`, kind: 'decision', message });
}
