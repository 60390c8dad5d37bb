/**
 * The merge queue of a run: orders requests, has them merged, verified, and taken out again when they break what others built.
 * Its loops (mainline-merge, mainline-verify, mainline-integrate) share one state (mainline-state).
 *
 * Invariants:
 * 1. `landed` is said only after `verified` has moved to, or past, the request's commit.
 * 2. Merging never waits for a verification, verification never for a merge.
 */
import {
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { PlanTask, Policy } from '../spec/model.ts';
import { integrateLoop } from './mainline-integrate.ts';
import { mergeLoop } from './mainline-merge.ts';
import { MainlineState } from './mainline-state.ts';
import type { CarriedMainline } from './mainline-state.ts';
import { verifyLoop } from './mainline-verify.ts';
import type { MainlineReport } from './protocol.ts';
import * as protocol from './protocol.ts';
import { mainlineActivities } from './proxies.ts';

export interface MainlineInput {
  readonly run: string;
  readonly plan: readonly PlanTask[];
  readonly policy: Pick<Policy, 'fixAttempts' | 'verify'>;
  /** Tasks judged by their own criteria: until a wave without them is integrated, `mainline` steps are not run. */
  readonly scaffold: readonly string[];
  readonly carried: CarriedMainline | null;
}

export async function mainline(input: MainlineInput): Promise<void> {
  const { run, policy } = input;
  const state = new MainlineState(run, input.plan, input.carried);
  setHandler(protocol.requestMerge, (order) => state.request(order));
  setHandler(protocol.withdrawTask, ({ task }) => state.withdraw(task));
  setHandler(protocol.integrate, ({ wave }) => void (state.wanted = wave));
  setHandler(protocol.holdMerges, (hold) => void (state.held = hold));
  setHandler(protocol.planChanged, (changed) => void (state.plan = changed));
  setHandler(protocol.verifyNow, () => void (state.verifyAsked = true));
  setHandler(protocol.closeMainline, () => void (state.closing = true));
  setHandler(protocol.mergeQueueQuery, () => state.waiting());

  state.line = await mainlineActivities.readLine({ run });
  setCurrentDetails('Merges, verifies and integrates. Query `mergeQueue` tells who waits.');
  let done = false;
  // One Promise.all: when the workflow is cancelled every loop's rejection is somebody's, none is left unhandled.
  const work = Promise.all([
    mergeLoop(state),
    verifyLoop(state, policy.verify, input.scaffold),
    integrateLoop(state, policy.fixAttempts),
  ]).then(() => void (done = true));
  const renew = async (): Promise<void> => {
    await condition(() => done || (state.wanted === null && isLong()));
    state.pausing = !done;
  };
  await Promise.all([work, reportLoop(state, () => done), renew()]);
  if (state.pausing) await continueAsNew<typeof mainline>({ ...input, plan: state.plan, carried: state.carry() });
}

const isLong = (): boolean => workflowInfo().continueAsNewSuggested || workflowInfo().historyLength > 3000;

/** Tells runSpec what it does not hear from the tasks themselves: at most once a second, an integration point at once. */
async function reportLoop(state: MainlineState, until: () => boolean): Promise<void> {
  for (let last = 0; ; last = Date.now()) {
    await condition(() => state.hasNews || until());
    if (!state.hasNews) return;
    const waitMs = state.integration === null ? last + 1000 - Date.now() : 0;
    if (waitMs > 0) await sleep(waitMs);
    const { news, integration } = state;
    const report: MainlineReport = {
      landedAgain: news.landedAgain.splice(0),
      rolledBack: news.rolledBack.splice(0),
      ejected: news.ejected.splice(0),
      integration,
    };
    state.integration = null;
    await getExternalWorkflowHandle(state.run).signal(protocol.mainlineReport, report);
  }
}
