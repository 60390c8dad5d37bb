/** The two schedules: wave after wave with an integration point between, or each task as soon as its dependencies have landed. */
import {
  ApplicationFailure,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { PlanTask } from '../spec/model.ts';
import { layersOf, unmetDependencies, waveParts } from '../spec/schedule.ts';
import { isClosed } from '../spec/task-state.ts';
import { attributesOf } from './attributes.ts';
import type { IntegrationResult } from './protocol.ts';
import { integrate, mainlineId, taskWorkflowId, waveId } from './protocol.ts';
import type { RunContext } from './run-context.ts';
import { wave as waveWorkflow } from './wave.ts';

/** `done`: every task is final. `renew`: the history is long, continue as new. */
export type ScheduleEnd = 'done' | 'renew';

/** The history is long, and nobody plans: a planner's workflow is not carried over. */
const mayRenew = ({ planning }: RunContext): boolean =>
  (workflowInfo().continueAsNewSuggested || workflowInfo().historyLength > 4000) && planning?.isBusy !== true;

/** Starts `tasks` as parts of wave `n`. */
async function startParts(context: RunContext, n: number, tasks: readonly PlanTask[]): Promise<void> {
  const { run, admitted, state } = context;
  const splits = ({ id }: PlanTask): boolean =>
    context.planning?.asksFor('timeout') === true && context.planning.ownerOf(id) !== null;
  const begun = state.begin(tasks, n, Date.now());
  const starting = begun.map((start) => (splits(state.get(start.id)!.plan) ? { ...start, splits: true } : start));
  const parts = waveParts(starting).map((starts) => {
    context.parts += 1;
    return { id: waveId(run, n, context.parts), wave: n, part: context.parts, starts, tasks: starts.length };
  });
  context.openParts.open(parts);
  const start = async ({ id, part, starts }: (typeof parts)[number]): Promise<void> => {
    const { slots, scarce } = context.openParts.get(id)!;
    await startChild(waveWorkflow, {
      workflowId: id,
      args: [{ run, wave: n, part, tasks: starts, slots, scarce, held: context.paused, policy: admitted.policy }],
      parentClosePolicy: ParentClosePolicy.ABANDON, // reports by signal, so that the run may continue as new
      staticSummary: `wave ${n}${parts.length > 1 ? ` part ${part}` : ''}: ${starts.length} tasks`,
      staticDetails: starts
        .map(({ id: task }) => `- ${task}`)
        .join('\n')
        .slice(0, 20_000),
      typedSearchAttributes: attributesOf({ run, kind: 'wave', state: 'open', wave: n }),
    });
  };
  await Promise.all(parts.map(start));
  await context.openParts.balance();
}

const openOf = (context: RunContext, n: number): number =>
  [...context.openParts.values()].filter(({ wave }) => wave === n).length;

/** Integration point n: the wave gate on `verified`. Resolves with what came of it. */
async function integrationPoint(context: RunContext, n: number): Promise<IntegrationResult> {
  await getExternalWorkflowHandle(mainlineId(context.run)).signal(integrate, { wave: n });
  await condition(() => context.broken !== null || context.integrations.some(({ wave }) => wave === n));
  failWhenBroken(context);
  const index = context.integrations.findIndex(({ wave }) => wave === n);
  const [result] = context.integrations.splice(index, 1);
  await announce(context, n, result!);
  return result!;
}

async function announce(context: RunContext, n: number, result: IntegrationResult): Promise<void> {
  if (result.outcome === 'green')
    await context.notify(
      'green',
      `green-${result.n}`,
      `${context.run}: green point ${result.n} at ${result.commit.slice(0, 10)}`,
    );
  if (result.outcome === 'rolled-back')
    await context.notify('red', `red-${n}`, `${context.run}: integration point ${n} came to nothing: ${result.why}`);
}

async function tellBlocked(context: RunContext): Promise<void> {
  for (const { plan, round, why } of context.state.all(({ state }) => state === 'blocked')) {
    const key = `blocked-${plan.id}-${round}`;
    if (context.told.has(key)) continue;
    context.told.add(key);
    context.planning?.concern(
      plan.id,
      'blocked',
      `Task ${plan.id} is blocked, all its attempts came back red: ${why.slice(0, 2000)}\nDrop it and name what does its work, or leave it to a person.`,
    );
    await context.notify('blocked', key, `${context.run}: ${plan.id} is blocked: ${why}`);
  }
}

function failWhenBroken({ broken }: RunContext): void {
  if (broken !== null)
    throw ApplicationFailure.nonRetryable(`The mainline of the run failed: ${broken}`, 'MainlineFailed');
}

/** Waits until something happened, records it, tells whom it concerns. */
export async function nextChange(context: RunContext): Promise<void> {
  await condition(() => context.stirred);
  context.stirred = false;
  failWhenBroken(context);
  if (context.planChanged) {
    context.planChanged = false;
    await context.tellPlan();
  }
  if (!context.paused) context.planning?.look();
  await context.openParts.balance();
  await context.record();
  await tellBlocked(context);
}

export async function runWaves(context: RunContext): Promise<ScheduleEnd> {
  const { state } = context;
  for (;;) {
    // A wave that is open (also one carried over a continue-as-new) takes in what joins, and is awaited.
    while (openOf(context, context.wave) > 0) {
      await nextChange(context);
      const joining = context.paused ? [] : state.startable(true);
      if (joining.length > 0 && openOf(context, context.wave) > 0) await startParts(context, context.wave, joining);
      if (mayRenew(context)) return 'renew';
    }
    if (context.wave > 0) {
      await integrationPoint(context, context.wave);
      context.planning?.integrated(context.wave);
      context.planning?.look();
      await context.record();
      await tellBlocked(context);
    }
    while (context.paused || state.startable(false).length === 0) {
      if (!context.paused && context.isDone()) return 'done';
      await context.record();
      await nextChange(context); // waits for a person: the details name for whom
    }
    if (context.wave > 0)
      await context.approval('wave', `integration point ${context.wave} is done; wave ${context.wave + 1} is next`);
    context.wave += 1;
    await startParts(context, context.wave, state.startable(false));
    await context.record();
  }
}

export async function runFrontier(context: RunContext): Promise<ScheduleEnd> {
  const { state } = context;
  /** Landings that the last integration point covered; it is asked for again only when there are more. */
  let covered = 0;
  /** Layers integrated so far. */
  let layersDone = 0;
  let integrating = false;
  for (;;) {
    const layers = layersOf(state.plan);
    if (!context.paused) await startByLayer(context, layers);
    for (const result of context.integrations.splice(0)) {
      await announce(context, result.wave, result);
      context.planning?.integrated(result.wave);
      context.stirred ||= context.planning !== null;
      integrating = false;
    }
    const idle = context.openParts.size === 0 && state.startable(false).length === 0;
    if (!integrating && context.landings > covered && (idle || closedLayers(context, layers) > layersDone)) {
      layersDone = closedLayers(context, layers);
      covered = context.landings;
      integrating = true;
      await getExternalWorkflowHandle(mainlineId(context.run)).signal(integrate, { wave: Math.max(1, layersDone) });
    }
    if (idle && !integrating && !context.paused && context.isDone()) return 'done';
    await nextChange(context);
    await recallOrphans(context);
    if (mayRenew(context) && !integrating) return 'renew';
  }
}

/** Running tasks whose dependency was taken out again return to pending: what they build on is no longer there. */
async function recallOrphans({ run, state }: RunContext): Promise<void> {
  const orphans = state.all(
    (record) =>
      ['running', 'retrying', 'merging'].includes(record.state) &&
      record.intent === null &&
      unmetDependencies(record.plan, state.standings).length > 0,
  );
  for (const record of orphans) {
    record.intent = 'restart';
    try {
      await getExternalWorkflowHandle(taskWorkflowId(run, record.plan.id, record.round)).cancel();
    } catch (error) {
      if (isCancellation(error)) throw error; // otherwise it has ended, and its report is on its way
    }
  }
}

/** Whatever may start starts, counted to the wave in which it would be if nothing ever failed. */
async function startByLayer(context: RunContext, layers: readonly string[][]): Promise<void> {
  const startable = context.state.startable(false);
  for (const [layer, ids] of layers.entries()) {
    const tasks = startable.filter(({ id }) => ids.includes(id));
    if (tasks.length === 0) continue;
    context.wave = Math.max(context.wave, layer + 1);
    await startParts(context, layer + 1, tasks);
  }
}

/** A wave's worth has landed when every task up to a layer has closed: the number of such layers. */
function closedLayers({ state }: RunContext, layers: readonly string[][]): number {
  const open = layers.findIndex((ids) => ids.some((id) => !isClosed(state.get(id)?.state ?? 'pending')));
  return open === -1 ? layers.length : open;
}
