/** The steps of one attempt as its workflow asks for them: agent, gate, reviews. Each says what is red and why; what follows is the caller's. */
import { setCurrentDetails } from '@temporalio/workflow';
import type { TaskStart } from '../activities/contract.ts';
import { describeRed } from '../spec/gate/describe.ts';
import type { FailureCause } from '../spec/model.ts';
import type { TaskReport } from './protocol.ts';
import { attemptActivities, PRIORITY, recordActivities } from './proxies.ts';

export type Work = NonNullable<TaskReport['kept']>;
export type StartFrom = 'verified' | 'next';
export interface Red {
  readonly ok: false;
  readonly cause: FailureCause;
  readonly why: string;
}

export const isRed = (outcome: Work | Red): outcome is Red => 'ok' in outcome;

export async function runWorker(
  run: string,
  task: TaskStart,
  attempt: number,
  startFrom: StartFrom,
): Promise<Work | Red> {
  const result = await attemptActivities.runAgent.executeWithOptions(
    { summary: `agent ${task.id} attempt ${attempt} (${task.engine})`, priority: PRIORITY.agent },
    [{ run, task: task.id, round: task.round, attempt, startFrom }],
  );
  return result.ok ? { commit: result.commit, base: result.base, attempt } : result;
}

/** An attempt of the merger at work of the same task that conflicts. */
export async function runMerger(run: string, task: TaskStart, attempt: number, of: Work): Promise<Work | Red> {
  const result = await attemptActivities.runMerge.executeWithOptions(
    {
      summary: `merger ${task.id} attempt ${attempt}, of ${of.attempt} (${task.merger!.engine})`,
      priority: PRIORITY.gate,
    },
    [
      {
        run,
        task: task.id,
        round: task.round,
        attempt,
        of: { attempt: of.attempt, commit: of.commit, base: of.base },
      },
    ],
  );
  return result.ok ? { commit: result.commit, base: result.base, attempt, by: 'merger' } : result;
}

/** null: green. */
export async function passGate(
  run: string,
  task: TaskStart,
  work: Work,
  onto: StartFrom,
  resubmitted: boolean,
): Promise<Red | null> {
  const gate = await attemptActivities.runGate.executeWithOptions(
    { summary: `gate ${task.id} attempt ${work.attempt}`, priority: PRIORITY.gate },
    [
      {
        run,
        key: `${task.id}/${work.attempt}${resubmitted ? `~${task.round}` : ''}`,
        level: 'task',
        commit: work.commit,
        base: work.base,
        task: task.id,
        attempt: work.attempt,
        onto,
        ...(task.scaffold ? { only: [] } : {}),
        waive: task.waive,
        rerunRed: false,
      },
    ],
  );
  switch (gate.outcome) {
    case 'green':
      return null;
    case 'conflict':
      return { ok: false, cause: 'conflict', why: `It conflicts in ${gate.paths.join(', ')}` };
    case 'red': {
      const step = gate.steps.find(({ step: name }) => name === gate.step);
      const why = step === undefined ? `Step ${gate.step} is red` : describeRed(step, gate.cause);
      return { ok: false, cause: gate.cause, why };
    }
  }
}

/** Calls of a reviewer whose verdict stays missing. */
const CALLS = 2;

/** All side by side; whoever gave no verdict is called once more where that could decide. null: approved, waived, or nobody reviews. */
export async function passReviews(run: string, task: TaskStart, work: Work): Promise<Red | null> {
  const { reviewers = [], waive } = task;
  if (reviewers.length === 0 || waive.includes('review')) return null;
  const { attempt, commit, base } = work;
  setCurrentDetails(`Gate of attempt ${attempt} green; ${reviewers.length} review it`);
  let asked = reviewers.map((_, reviewer) => reviewer);
  for (let call = 1; ; call++) {
    await Promise.all(
      asked.map((reviewer) => {
        const { sees, engine } = reviewers[reviewer]!;
        return attemptActivities.runReview.executeWithOptions(
          { summary: `review ${task.id} attempt ${attempt} (${sees}, ${engine})`, priority: PRIORITY.gate },
          [{ run, task: task.id, attempt, commit, base, reviewer, call }],
        );
      }),
    );
    const decided = await recordActivities.decideReviews({ run, task: task.id, attempt, final: call === CALLS });
    if (decided.decision === 'approved') return null;
    if (decided.decision === 'rejected') return { ok: false, cause: 'rejected', why: decided.why };
    asked = [...decided.missing];
  }
}
