/**
 * One task, one round: attempts until one lands, or none is left.
 *
 * Invariants:
 * 1. Only a commit whose gate was green, and which its reviewers approved, is sent to the mainline.
 * 2. It ends `passed` only on the mainline's word that the commit is under `verified`.
 * 3. It holds a slot only while an agent or a gate runs: the wave grants it, this workflow gives it back.
 */
import {
  ActivityFailure,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { TaskStart } from '../activities/contract.ts';
import { consequenceOf, mayRetry } from '../spec/causes.ts';
import { nextMerging } from '../spec/merging.ts';
import type { Merging } from '../spec/merging.ts';
import type { FailureCause, Policy } from '../spec/model.ts';
import { stateKey } from './attributes.ts';
import type { MainlineAnswer, MergeOrder, TaskReport } from './protocol.ts';
import {
  mainlineAnswer,
  mainlineId,
  mergeApproved,
  requestMerge,
  slotGranted,
  slotMessage,
  withdrawTask,
} from './protocol.ts';
import { recordActivities } from './proxies.ts';
import { isRed, passGate, passReviews, runMerger, runWorker } from './task-steps.ts';
import type { Red, StartFrom, Work } from './task-steps.ts';

export interface ExecuteTaskInput {
  readonly run: string;
  readonly task: TaskStart;
  readonly policy: Pick<Policy, 'attempts' | 'fixAttempts'>;
  /** Wave workflow that grants slots. */
  readonly wave: string;
}

const MAINLINE_CAUSES: ReadonlySet<FailureCause> = new Set(['conflict', 'refused', 'ejected']);

/** More of the same would cost as much and come to as little. */
const TIMEOUTS_TO_SPLIT = 2;

type Verdict = { readonly ok: true; readonly commit: string } | Red;

function show(state: string, text: string): void {
  upsertSearchAttributes([{ key: stateKey, value: state }]);
  setCurrentDetails(text);
}

export async function executeTask(input: ExecuteTaskInput): Promise<TaskReport> {
  const { run, task, policy } = input;
  const answers: MainlineAnswer[] = [];
  let hasSlot = true;
  const needsApproval = task.approvals.includes('merge');
  let approved = !needsApproval;
  setHandler(mainlineAnswer, (answer) => void answers.push(answer));
  setHandler(slotGranted, () => void (hasSlot = true));
  setHandler(mergeApproved, () => void (approved = true));

  const wave = getExternalWorkflowHandle(input.wave);
  const mainline = getExternalWorkflowHandle(mainlineId(run));
  let attempt = task.firstAttempt;
  let made = task.firstAttempt - 1;
  let ejections = task.ejections;
  let kept: TaskReport['kept'] = task.resubmit;
  let startFrom: StartFrom = 'verified';
  let requested = false;
  let merging: Merging<Work> | null = null;
  /** The commit of the attempt under way, once there is one. */
  let current: Work | null = null;
  let timeouts = 0;

  const report = (state: TaskReport['state'], why: string): TaskReport => ({
    task: task.id,
    round: task.round,
    state,
    attempts: made,
    ejections,
    why,
    kept,
    awaitsApproval: false,
  });
  const giveSlotBack = async (why: string): Promise<void> => {
    hasSlot = false;
    await wave.signal(slotMessage, { task: task.id, kind: 'release', why });
  };
  /** Agent, gate, reviews, merge; resolves with what became of it. */
  const tryOnce = async (resubmit: TaskStart['resubmit']): Promise<Verdict> => {
    current = null;
    const made =
      resubmit ??
      (await (merging === null
        ? runWorker(run, task, attempt, startFrom)
        : runMerger(run, task, attempt, merging.work)));
    if (isRed(made)) return made;
    kept = current = made;
    const red = (await passGate(run, task, made, startFrom, resubmit !== null)) ?? (await passReviews(run, task, made));
    return red ?? merge(made);
  };

  const merge = async (work: Work): Promise<Verdict> => {
    const askedPerson = !approved;
    if (askedPerson) {
      await giveSlotBack('approval');
      show('merging', `Waits for a person: \`swarmline approve ${run} merge --task ${task.id}\``);
      await condition(() => approved);
    }
    show('merging', 'Gate green; waits for the mainline');
    const id = `${task.id}/${work.attempt}`;
    const order: MergeOrder = {
      id,
      task: task.id,
      attempt: work.attempt,
      commit: work.commit,
      base: work.base,
      ...(work.by === 'merger' && task.merger !== undefined
        ? { engine: task.merger.engine, model: task.merger.model }
        : { engine: task.engine, model: task.model }),
      atMs: Date.now(),
      replyTo: workflowInfo().workflowId,
    };
    approved = !needsApproval; // the next attempt is another change and asks again
    answers.length = 0;
    requested = true;
    // Both at once: a workflow task less than one after the other.
    await Promise.all([mainline.signal(requestMerge, order), ...(askedPerson ? [] : [giveSlotBack('mainline')])]);
    await condition(() => answers.some(({ request }) => request === id));
    requested = false;
    const answer = answers.find(({ request }) => request === id)!;
    if (answer.kind === 'landed') return { ok: true, commit: answer.commit };
    if (answer.kind === 'dependency-ejected') throw new DependencyEjected(answer.why);
    return { ok: false, cause: answer.kind, why: answer.why };
  };

  try {
    for (let resubmit = task.resubmit; ; resubmit = null) {
      if (!hasSlot) {
        const why = merging === null ? 'next attempt' : 'merge';
        await wave.signal(slotMessage, { task: task.id, kind: 'need', why, merges: merging !== null });
        await condition(() => hasSlot);
        show('running', `Attempt ${attempt}`);
      }
      const verdict = await tryOnce(resubmit);
      if (resubmit === null) made = attempt++;
      if (verdict.ok) {
        show('passed', `Landed in ${verdict.commit}`);
        return report('passed', '');
      }
      const { isEjection, says, startFrom: from } = consequenceOf(verdict.cause);
      const conflicted: Work | null = verdict.cause === 'conflict' && task.merger !== undefined ? current : null;
      // What a merger could not do starts where it did: what it conflicts with is in `next`, and perhaps not yet verified.
      const byMerger = merging !== null;
      startFrom = byMerger ? 'next' : from;
      merging = nextMerging(merging, conflicted);
      if (isEjection) ejections += 1;
      // Agent and gate reds were recorded where they happened; what the mainline said is known here only.
      if (MAINLINE_CAUSES.has(verdict.cause)) {
        const ended = resubmit !== null && kept !== null ? kept.attempt : made;
        await recordActivities.endAttempt({
          run,
          task: task.id,
          attempt: ended,
          outcome: verdict.cause,
          why: verdict.why,
        });
      }
      const tried = made - task.firstAttempt + 1;
      if (verdict.cause === 'agent-timeout' && !byMerger) timeouts += 1;
      if (task.splits === true && timeouts >= TIMEOUTS_TO_SPLIT) {
        show('blocked', `Ran into its deadline twice: its planner may split it. ${verdict.why}`);
        return { ...report('blocked', `${says}, twice: ${verdict.why}`), timedOut: true };
      }
      if (resubmit === null && !mayRetry(policy, tried, ejections)) {
        show('blocked', `Blocked: ${says}. ${verdict.why}`);
        return report('blocked', `${says}: ${verdict.why}`);
      }
    }
  } catch (error) {
    if (error instanceof DependencyEjected) return report('pending', error.why);
    // A container that is killed while its activity is being cancelled ends as a fault of the host: the cancellation is what happened.
    if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) {
      // A person's mistake (an image that is not there, a set-up that fails): blocked with what it said, for a person to mend and retry.
      if (!(error instanceof ActivityFailure)) throw error;
      const why = error.cause?.message ?? error.message;
      show('blocked', `Blocked: ${why}`);
      return report('blocked', why);
    }
    await CancellationScope.nonCancellable(async () => {
      if (requested) await mainline.signal(withdrawTask, { task: task.id }).catch(() => undefined); // it may have ended with the run
      show('cancelled', 'Cancelled');
    });
    return report('cancelled', 'cancelled');
  }
}

class DependencyEjected extends Error {
  readonly why: string;
  constructor(why: string) {
    super(why);
    this.why = why;
  }
}
