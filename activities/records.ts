/** What workflows write to the store and tell people: short, idempotent, on the orchestrator's own queue. */
import {
  addLogEntry, answerScopeRequest, closeOpenAttempts, endAttempt, finishRun, hostsOfRun, listEvaluations, loadSpec, runningAttempts, saveArtifact, setPaused, setRunPhase, setTaskStates,
} from '../store/index.ts'; // prettier-ignore
import type { Db } from '../store/index.ts';
import { costSummary } from '../spec/cost-report.ts';
import type { PriceTable } from '../spec/prices.ts';
import { beating } from './beating.ts';
import type { RecordActivities } from './contract.ts';
import { decideReviews } from './decide-reviews.ts';
import { raiseBudget } from './raise-budget.ts';
import { runCost } from './run-cost.ts';

/** Artifact of an attempt that the mainline did not take: conflict, refusal, or the red that it caused. */
export const MAINLINE_LOG = 'mainline.log';

export interface RecordDeps {
  readonly db: Db;
  /** Of models, the user's first. */
  readonly prices: readonly PriceTable[];
  /** Runs a command or calls a webhook; throws what Temporal should retry. */
  readonly notify: (
    spec: { readonly run: readonly string[] | null; readonly webhook: string | null },
    message: NotifyMessage,
  ) => Promise<void>;
}
export interface NotifyMessage {
  readonly run: string;
  readonly event: string;
  readonly text: string;
}

export function createRecordActivities({ db, prices, notify }: RecordDeps): RecordActivities {
  return beating<RecordActivities>({
    async recordRun({ run, atMs, phase, waiting, changes, paused }) {
      await setPaused(db, run, paused, atMs);
      await setRunPhase(db, run, phase, waiting.length === 0 ? null : waiting, atMs);
      await setTaskStates(
        db,
        run,
        changes.map(({ id, state, wave, round, why, waiting: waits }) => ({
          id,
          state,
          ...(wave === undefined ? {} : { wave }),
          ...(round === undefined ? {} : { round }),
          ...(why === undefined ? {} : { why }),
          ...(waits === undefined || waits === null
            ? { waitingOn: state === 'blocked' ? 'a person' : null }
            : { waitingOn: waits.on, waitingWhy: waits.why, waitingSinceMs: waits.sinceMs }),
        })),
        atMs,
      );
    },
    async finishRun({ run, atMs, report }) {
      await closeOpenAttempts(db, run);
      const cost = costSummary(await runCost(db, run, prices, { ended: true }));
      const scores = (await listEvaluations(db, run)).map(({ n, commit, score }) => ({ n, commit, score }));
      const whole = {
        ...report,
        ...(cost === null ? {} : { cost }),
        ...(scores.length === 0 ? {} : { scores }),
      };
      await finishRun(db, run, report.outcome, whole, atMs);
      return whole;
    },
    async endAttempt({ run, task, attempt, outcome, why }) {
      // What the mainline said is the log that the next attempt is given.
      await saveArtifact(db, { run, task, attempt, name: MAINLINE_LOG }, why);
      await endAttempt(db, { run, task, attempt }, { outcome, why, failureArtifact: MAINLINE_LOG });
    },
    decideReviews: ({ final, ...key }) => decideReviews(db, key, final),
    askPersonForScope: ({ run, request }) =>
      answerScopeRequest(db, run, request, { state: 'open', text: 'A person is asked' }),
    hostsOfRun: ({ run }) => hostsOfRun(db, run),
    attemptsRunning: async ({ run }) =>
      (await runningAttempts(db, run)).filter(({ phase }) => phase === 'agent' || phase === 'gate').length,
    raiseBudget: (input) => raiseBudget(db, prices, input),
    async notify({ run, event, text }) {
      const { notify: how } = await loadSpec(db, run);
      await notify(how, { run, event, text });
    },
    addLogEntry: (entry) => addLogEntry(db, entry),
  });
}
