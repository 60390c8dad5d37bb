/**
 * One call of one planner: asked, judged, sent back with every problem, asked again, until its answer is part of the plan.
 *
 * Invariants:
 * 1. It ends with an answer that was taken, or says why there is none, after `asks` answers at most.
 * 2. It changes nothing but the stored plan: what starts and what is dropped is runSpec's.
 */
import { isCancellation, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { PlanTaken } from '../activities/contract.ts';
import { stateKey } from './attributes.ts';
import { attemptActivities, mainlineActivities, PRIORITY, readableFailure } from './proxies.ts';

export interface PlanNodeInput {
  readonly run: string;
  /** Id of its scope; '' for the first. */
  readonly node: string;
  /** Number of the first answer; they count over all calls. */
  readonly attempt: number;
  readonly asks: number;
  /** Why it is called; '' at first. */
  readonly occasion: string;
}

export type Planned =
  | { readonly attempt: number; readonly taken: Extract<PlanTaken, { ok: true }> }
  /** `attempt`: the last one made. */
  | { readonly attempt: number; readonly taken: null; readonly why: string };

export async function planNode({ run, node, attempt: first, asks, occasion }: PlanNodeInput): Promise<Planned> {
  let why = '';
  for (let attempt = first; attempt < first + asks; attempt++) {
    show('running', attempt === first ? occasion : `Answer ${attempt}; the last one was sent back:\n\n${why}`);
    try {
      const asked = await attemptActivities.askPlanner.executeWithOptions(
        { summary: `planner ${node} answer ${attempt}`, priority: PRIORITY.planner },
        [{ run, node, attempt, occasion }],
      );
      const taken = asked.ok
        ? await mainlineActivities.takePlan.executeWithOptions({ summary: `judge answer ${attempt}` }, [
            { run, node, attempt },
          ])
        : asked;
      if (taken.ok) {
        show('passed', taken.score.map((line) => `- ${line}`).join('\n'));
        return { attempt, taken };
      }
      why = taken.why;
    } catch (error) {
      if (isCancellation(error)) throw error;
      // A person's mistake (an image that is not there, a set-up that fails): nothing that another answer could mend.
      const failure = readableFailure(error);
      show('failed', String(failure));
      return { attempt, taken: null, why: failure instanceof Error ? failure.message : String(failure) };
    }
  }
  show('failed', why);
  return { attempt: first + asks - 1, taken: null, why: `${asks} answers came to nothing; the last one: ${why}` };
}

function show(state: string, text: string): void {
  upsertSearchAttributes([{ key: stateKey, value: state }]);
  setCurrentDetails(text);
}
