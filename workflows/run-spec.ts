/**
 * One run: from a spec to commits on `main`. It alone holds task states and restarts tasks.
 *
 * Invariants:
 * 1. Nothing starts before the whole spec is found good; then every problem is in one failure.
 * 2. It ends `completed` only when every task passed, or was skipped or cancelled by a person, and the last integration point is green.
 * 3. Cancelling keeps every commit, returns when the containers are gone, and says what can be delivered.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type { Admitted, RunReport } from '../activities/contract.ts';
import { attributesOf } from './attributes.ts';
import * as protocol from './protocol.ts';
import { mainlineActivities, readableFailure, recordActivities } from './proxies.ts';
import { prepare } from './run-prepare.ts';
import { RunContext } from './run-context.ts';
import { handleBudget } from './run-budget.ts';
import { handlePeople } from './run-people.ts';
import type { CarriedPlanning } from './plan-record.ts';
import type { GreenPointToMeasure } from './run-evaluations.ts';
import { handleScope } from './run-scope.ts';
import type { OpenPart } from './run-slots.ts';
import { newRecord, RunState } from './run-state.ts';
import type { Staff, TaskRecord } from './run-state.ts';
import { runFrontier, runWaves } from './run-waves.ts';

/** What a run takes with it when it continues as new. */
export interface CarriedRun {
  readonly admitted: Admitted;
  readonly records: readonly TaskRecord[];
  readonly openParts: readonly (readonly [string, OpenPart])[];
  readonly wave: number;
  readonly parts: number;
  readonly greenPoints: number;
  readonly main: string;
  readonly paused: boolean;
  readonly planning?: CarriedPlanning;
  readonly toMeasure?: readonly GreenPointToMeasure[];
  readonly scopeRequests?: RunContext['scopeRequests'] extends Map<string, infer R> ? readonly R[] : never;
}

export async function runSpec(raw: unknown, carried: CarriedRun | null = null): Promise<RunReport> {
  const { workflowId: run } = workflowInfo();
  upsertSearchAttributes(attributesOf({ run, kind: 'run', state: carried === null ? 'validate' : 'waves' }));
  let current: RunContext | null = null;
  handlePeople(run, () => current);
  handleBudget(() => current);
  handleScope(() => current);
  const context = carried === null ? await begin(run, raw) : resumeCarried(run, carried);
  current = context;
  try {
    setHandler(protocol.waveReport, (report) => {
      const { wave, part, tasks } = report;
      for (const task of tasks) {
        context.state.report(task, Date.now());
        if (task.state === 'passed') context.planning?.landed(task.task);
        if (task.timedOut === true) context.planning?.concern(task.task, 'timeout', timedOut(task.task));
      }
      context.landings += tasks.filter(({ state }) => state === 'passed').length;
      context.openParts.report(protocol.waveId(run, wave, part), report);
      context.stirred = true;
    });
    setHandler(protocol.mainlineReport, (report) => applyMainline(context, report));
    if (carried === null) await prepare(context);

    await context.enter('waves');
    const outcome = context.admitted.policy.schedule === 'waves' ? await runWaves(context) : await runFrontier(context);
    if (outcome === 'renew') {
      await condition(allHandlersFinished);
      await continueAsNew<typeof runSpec>(null, carry(context));
    }
    await context.approval('delivery', `main has ${context.greenPoints} green points`);
    await context.enter('deliver');
    await deliver(context);
    if (context.evaluations.open.length > 0) await context.enter('evaluate');
    await context.evaluations.settled();
    return await finish(context, 'completed');
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => windUp(context));
    else if (error instanceof ApplicationFailure)
      await CancellationScope.nonCancellable(() => fail(context, error.message));
    throw error;
  }
}

async function begin(run: string, raw: unknown): Promise<RunContext> {
  try {
    const admitted = await mainlineActivities.admitRun.executeWithOptions(
      { summary: 'validate the spec, fetch the base commit' },
      [{ run, raw }],
    );
    const now = Date.now();
    const records = admitted.plan.map((task) => newRecord(task, now));
    return new RunContext(run, admitted, new RunState(admitted.policy, staffOf(admitted), records));
  } catch (error) {
    throw readableFailure(error);
  }
}

const timedOut = (task: string): string =>
  `Task ${task} ran into its deadline twice and waits. Split it: drop it, and name the smaller tasks under "replacedBy".`;

const staffOf = ({ engines, reviewers }: Admitted): Staff => ({
  ...(engines['worker'] ?? { engine: 'command', model: null }),
  ...(reviewers === undefined ? {} : { reviewers }),
  ...(engines['merger'] === undefined ? {} : { merger: engines['merger'] }),
});

function applyMainline(context: RunContext, report: protocol.MainlineReport): void {
  const now = Date.now();
  const { state } = context;
  state.rolledBack(report.rolledBack, now);
  state.landedAgain(report.landedAgain, now);
  context.landings += report.landedAgain.length;
  for (const { entry, culprit, why } of report.ejected) state.ejected(entry, culprit, why, now);
  if (report.integration !== null) {
    context.integrations.push(report.integration);
    if (report.integration.outcome === 'green') {
      context.greenPoints = report.integration.n;
      context.main = report.integration.commit;
      context.evaluations.start(report.integration);
    }
  }
  context.stirred = true;
}

async function deliver(context: RunContext): Promise<void> {
  const { commit, pushed, fetch } = await mainlineActivities.deliverMain.executeWithOptions(
    { summary: `deliver ${context.main.slice(0, 10)}` },
    [{ run: context.run }],
  );
  context.main = commit;
  context.delivered = pushed ?? fetch;
}

/** A run that was cancelled: nothing of it runs any more when this returns; every commit is kept. */
async function windUp(context: RunContext): Promise<void> {
  await context.eachOpenPart((wave) => wave.cancel());
  await withMainline(context, (handle) => handle.cancel()); // a verification that runs must not be started again
  await context.onHosts((host) => host.stop({ run: context.run }));
  await condition(() => context.openParts.size === 0 && context.planning?.isBusy !== true, '2m');
  await finish(context, 'cancelled');
}
async function fail(context: RunContext, why: string): Promise<void> {
  await context.notify('red', 'failed', `${context.run} failed: ${why}`);
  await finish(context, 'failed');
}

async function finish(context: RunContext, outcome: RunReport['outcome']): Promise<RunReport> {
  const { run, state, greenPoints, main, delivered } = context;
  await withMainline(context, (handle) => handle.signal(protocol.closeMainline));
  const next =
    outcome === 'completed'
      ? [`swarmline status ${run}`]
      : [
          greenPoints > 0
            ? `What is green can be delivered: swarmline deliver ${run}`
            : 'Nothing is green yet; every commit is kept in the hub',
          `swarmline status ${run}`,
        ];
  const report: RunReport = {
    run,
    outcome,
    tasks: state.counts(),
    waves: context.wave,
    greenPoints,
    main,
    delivered,
    next,
  };
  context.phase = outcome;
  await context.record();
  // null: answered by a worker of before the report held what models cost.
  const stored: RunReport | null = await recordActivities.finishRun({ run, atMs: Date.now(), report });
  await context.notify('done', 'done', `${run}: ${outcome}, ${greenPoints} green points`);
  await condition(allHandlersFinished);
  return stored ?? report;
}

async function withMainline(
  context: RunContext,
  act: (handle: ExternalWorkflowHandle) => Promise<void>,
): Promise<void> {
  try {
    await act(getExternalWorkflowHandle(protocol.mainlineId(context.run)));
  } catch {
    // It never started, or has ended.
  }
}

const carry = (context: RunContext): CarriedRun => ({
  admitted: context.admitted,
  records: [...context.state.records.values()],
  openParts: [...context.openParts],
  wave: context.wave,
  parts: context.parts,
  greenPoints: context.greenPoints,
  main: context.main,
  paused: context.paused,
  ...(context.planning === null ? {} : { planning: context.planning.carry() }),
  scopeRequests: [...context.scopeRequests.values()],
  ...(context.evaluations.open.length === 0 ? {} : { toMeasure: context.evaluations.open }),
});

function resumeCarried(run: string, carried: CarriedRun): RunContext {
  const { admitted, records, openParts } = carried;
  const context = new RunContext(
    run,
    admitted,
    new RunState(admitted.policy, staffOf(admitted), records),
    openParts,
    carried.planning,
    carried.toMeasure,
  );
  for (const asked of carried.scopeRequests ?? []) context.scopeRequests.set(asked.request, asked);
  const { wave, parts, greenPoints, main, paused } = carried;
  return Object.assign(context, { wave, parts, greenPoints, main, paused });
}
