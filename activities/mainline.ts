/**
 * The hub's operations as Temporal may retry them. The refs decide; the store is told afterwards, under the same keys, so that a
 * repetition writes the same rows.
 */
import { ApplicationFailure } from '@temporalio/activity';
import { deliver } from '../mainline/deliver.ts';
import { DeliveryError, HubError, RepositoryError } from '../mainline/errors.ts';
import type { MergeRules } from '../mainline/chain.ts';
import type { LineEntry, MergeOutcome, MergeRequest } from '../spec/model.ts';
import { entriesAfter, entriesUpTo } from '../spec/line.ts';
import { checkScope, scopeRules } from '../spec/scope.ts';
import {
  loadSpec,
  loadTask,
  markAttempt,
  endAttempt,
  listMerges,
  recordMerges,
  saveGreenPoint,
  setTaskStates,
} from '../store/index.ts';
import type { MergeChange } from '../store/index.ts';
import { beating } from './beating.ts';
import { createAdmissionActivities } from './admission.ts';
import type { AdmissionDeps } from './admission-deps.ts';
import type { MainlineActivities } from './contract.ts';
import { collectRuns } from './garbage.ts';
import { createReconcileDecisions } from './reconcile-decisions.ts';
import { createTakePlan } from './take-plan.ts';

export function createMainlineActivities(deps: AdmissionDeps): MainlineActivities {
  const { db } = deps;
  const scopesOf = async (run: string, tasks: readonly string[]): Promise<MergeRules> => {
    const spec = await loadSpec(db, run);
    const found = await Promise.all([...new Set(tasks)].map((id) => loadTask(db, run, id)));
    const byId = new Map(found.flatMap((task) => (task === null ? [] : [[task.spec.id, task.spec] as const])));
    return ({ task }) => {
      const own = byId.get(task);
      if (own === undefined) return null;
      return (changes, siblings) => checkScope(withoutPresets(changes, own.tests), scopeRules(spec, own, siblings));
    };
  };

  return {
    ...beating(createAdmissionActivities(deps), hubFailure),
    ...beating<Omit<MainlineActivities, 'admitRun' | 'admitTask' | 'amendTask' | 'answerScope'>>(
      {
        takePlan: createTakePlan(deps),
        reconcileDecisions: createReconcileDecisions(deps),
        readLine: async ({ run }) => (await deps.hub(run)).line(),

        async mergeRequests({ run, requests }) {
          const hub = await deps.hub(run);
          const outcomes = await hub.merge(
            requests,
            await scopesOf(
              run,
              requests.map(({ task }) => task),
            ),
          );
          await recordMerges(db, run, mergeRows(requests, outcomes, await recorded(run, outcomes)));
          const now = Date.now();
          await Promise.all(
            requests.map((request) => markAttempt(db, { run, ...request }, { phase: 'merge', mergedAtMs: now })),
          );
          return { outcomes, line: await hub.line() };
        },

        async advanceVerified({ run, from, to }) {
          const hub = await deps.hub(run);
          await hub.advanceVerified(from, to);
          await recordLanded(run, entriesAfter(entriesUpTo((await hub.line()).entries, to), from));
        },

        async advanceMain({ run, to, wave }) {
          const hub = await deps.hub(run);
          const { n } = await hub.advanceMain(to);
          const landed = await hub.landed(to); // not the line above main: on a repetition main has moved already
          await recordMerges(
            db,
            run,
            landed.map((entry) => mergeRow(entry, 'green')),
          );
          await saveGreenPoint(db, run, { n, commit: to, wave });
          return { n };
        },

        async rebuildLine({ run, onto, drop, culprit, why }) {
          const hub = await deps.hub(run);
          const entries = (await hub.line()).entries;
          const rules = await scopesOf(
            run,
            entries.map(({ task }) => task),
          );
          const rebuilt = await hub.rebuild({ onto, drop, rules });
          const conflicts = rebuilt.conflicts.map(({ entry }) => entry);
          await recordMerges(db, run, [
            ...rebuilt.kept.map((entry) => mergeRow(entry, 'merged')),
            ...[...rebuilt.ejected, ...conflicts].map((entry) => ({ ...mergeRow(entry, 'ejected'), why })),
          ]);
          const line = await hub.line();
          await recordMerges(
            db,
            run,
            entriesUpTo(line.entries, line.verified).map((entry) => mergeRow(entry, 'verified')),
          );
          for (const entry of [...rebuilt.ejected, ...conflicts]) {
            await endAttempt(db, { run, ...entry }, endOf(entry, conflicts, culprit, why));
          }
          return { line, ejected: rebuilt.ejected, conflicts };
        },

        async deliverMain({ run }) {
          const hub = await deps.hub(run);
          const spec = await loadSpec(db, run);
          try {
            const credential = await deps.credential(spec.repository.credentials, spec.repository.url);
            const delivered = await deliver(hub, { run, deliver: spec.deliver, credential });
            return 'pushed' in delivered
              ? { commit: delivered.commit, pushed: delivered.pushed, fetch: null }
              : { commit: delivered.commit, pushed: null, fetch: delivered.left };
          } catch (error) {
            if (error instanceof DeliveryError || error instanceof RepositoryError) {
              throw ApplicationFailure.create({
                message: error.message,
                type: error.name,
                nonRetryable: error.kind !== 'unreachable',
                cause: error,
              });
            }
            throw error;
          }
        },

        collectGarbage: ({ keepDays }) => collectRuns(deps, keepDays),
      },
      hubFailure,
    ),
  };

  /** Requests with a row. Asked only when one was merged before: then its worker may have died before it could write the row. */
  async function recorded(run: string, outcomes: readonly MergeOutcome[]): Promise<ReadonlySet<string>> {
    if (outcomes.every(({ kind }) => kind !== 'already')) return new Set();
    return new Set((await listMerges(db, run)).map(({ request }) => request));
  }

  async function recordLanded(run: string, entries: readonly LineEntry[]): Promise<void> {
    const now = Date.now();
    await recordMerges(
      db,
      run,
      entries.map((entry) => ({ ...mergeRow(entry, 'verified'), verifiedAtMs: now })),
    );
    await setTaskStates(
      db,
      run,
      entries.map(({ task, commit }) => ({ id: task, state: 'passed', commit, why: null, waitingOn: null })),
    );
    await Promise.all(
      entries.map(({ task, attempt }) =>
        endAttempt(db, { run, task, attempt }, { outcome: 'passed', landedAtMs: now }),
      ),
    );
  }
}

/** How an attempt ended whose work was taken out again, whatever was said of it when it landed. */
function endOf(
  entry: LineEntry,
  conflicts: readonly LineEntry[],
  culprit: string | null,
  why: string,
): { outcome: 'ejected' | 'conflict' | 'cancelled'; why: string } {
  if (entry.request === culprit) return { outcome: 'ejected', why };
  if (conflicts.includes(entry))
    return { outcome: 'conflict', why: `It conflicts with the line that was rebuilt without ${culprit ?? 'others'}` };
  return {
    outcome: 'cancelled',
    why: `Taken out of the line with ${culprit ?? 'all above the last green point'}: ${why}`,
  };
}

/** Preset tests stand in the task's commit because we wrote them there: no change of the task's. */
function withoutPresets<T extends { readonly path: string }>(
  changes: readonly T[],
  tests: Readonly<Record<string, string>>,
): T[] {
  return changes.filter(({ path }) => !(path in tests));
}

const mergeRow = ({ request, task, attempt, commit }: LineEntry, state: MergeChange['state']): MergeChange => ({
  request,
  task,
  attempt,
  commit,
  state,
});

function mergeRows(
  requests: readonly MergeRequest[],
  outcomes: readonly MergeOutcome[],
  recorded: ReadonlySet<string>,
): MergeChange[] {
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
  return requests.flatMap(({ id, task, attempt, atMs }): MergeChange[] => {
    const outcome = byId.get(id);
    if (outcome === undefined) return [];
    const common = { request: id, task, attempt, requestedAtMs: atMs };
    switch (outcome.kind) {
      case 'already':
        if (recorded.has(id)) return []; // its row says more than we know here
        return [{ ...common, state: 'merged', commit: outcome.commit, mergedAtMs: Date.now() }];
      case 'merged':
        return [{ ...common, state: 'merged', commit: outcome.commit, mergedAtMs: Date.now() }];
      case 'conflict':
        return [{ ...common, state: 'conflict', why: outcome.paths.join(', ') }];
      case 'refused':
        return [{ ...common, state: 'refused', why: `${outcome.rule}: ${outcome.paths.join(', ')}` }];
      default:
        throw new Error(`Unknown outcome ${String(outcome satisfies never)}`);
    }
  });
}

/** A hub that is not what it must be is our bug and not worth repeating. */
function hubFailure(error: unknown): unknown {
  if (!(error instanceof HubError)) return error;
  return ApplicationFailure.create({ message: error.message, type: 'HubError', nonRetryable: true, cause: error });
}
