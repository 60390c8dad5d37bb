/** The two schedules: wave after wave with an integration point between, or each task as soon as its dependencies have landed. */
import {
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { PlanTask } from '../spec/model.ts';
import { layersOf, waveParts } from '../spec/schedule.ts';
import { isClosed } from '../spec/task-state.ts';
import { attributesOf } from './attributes.ts';
import type { IntegrationResult } from './protocol.ts';
import { integrate, mainlineId, waveId } from './protocol.ts';
import type { RunContext } from './run-context.ts';
import { wave as waveWorkflow } from './wave.ts';

/** Milliseconds between two task starts of one wave. */
const PACE_MS = 20;

/** `done`: every task is final. `renew`: the history is long, continue as new. */
export type ScheduleEnd = 'done' | 'renew';

const historyIsLong = (): boolean => workflowInfo().continueAsNewSuggested || workflowInfo().historyLength > 4000;

/** Starts `tasks` as parts of wave `n`. */
async function startParts(context: RunContext, n: number, tasks: readonly PlanTask[]): Promise<void> {
  const { run, admitted, state } = context;
  const parts = waveParts(state.begin(tasks, n, Date.now()));
  const slots = Math.max(1, Math.floor(admitted.policy.inFlight / parts.length));
  for (const starts of parts) {
    context.parts += 1;
    const part = context.parts;
    const id = waveId(run, n, part);
    context.openParts.set(id, { wave: n, part });
    await startChild(waveWorkflow, {
      workflowId: id,
      args: [
        { run, wave: n, part, tasks: starts, slots, paceMs: PACE_MS, held: context.paused, policy: admitted.policy },
      ],
      parentClosePolicy: ParentClosePolicy.ABANDON, // reports by signal, so that the run may continue as new
      staticSummary: `wave ${n}${parts.length > 1 ? ` part ${part}` : ''}: ${starts.length} tasks`,
      staticDetails: starts
        .map(({ id: task }) => `- ${task}`)
        .join('\n')
        .slice(0, 20_000),
      typedSearchAttributes: attributesOf({ run, kind: 'wave', state: 'open', wave: n }),
    });
  }
}

const openOf = (context: RunContext, n: number): number =>
  [...context.openParts.values()].filter(({ wave }) => wave === n).length;

/** Integration point n: the wave gate on `verified`. Resolves with what came of it. */
async function integrationPoint(context: RunContext, n: number): Promise<IntegrationResult> {
  await getExternalWorkflowHandle(mainlineId(context.run)).signal(integrate, { wave: n });
  await condition(() => context.integrations.some(({ wave }) => wave === n));
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
    await context.notify('blocked', key, `${context.run}: ${plan.id} is blocked: ${why}`);
  }
}

/** Waits until something happened, records it, tells whom it concerns. */
async function nextChange(context: RunContext): Promise<void> {
  await condition(() => context.stirred);
  context.stirred = false;
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
      if (historyIsLong()) return 'renew';
    }
    if (context.wave > 0) {
      await integrationPoint(context, context.wave);
      await context.record();
      await tellBlocked(context);
    }
    while (context.paused || state.startable(false).length === 0) {
      if (!context.paused && state.isDone()) return 'done';
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
  let integrated = 0;
  let inFlight: number | null = null;
  for (;;) {
    const layers = layersOf(state.plan);
    const layerOf = new Map(layers.flatMap((ids, layer) => ids.map((id) => [id, layer + 1] as const)));
    if (!context.paused) {
      const byLayer = new Map<number, PlanTask[]>();
      for (const task of state.startable(false)) {
        const layer = layerOf.get(task.id) ?? 1;
        byLayer.set(layer, [...(byLayer.get(layer) ?? []), task]);
      }
      for (const [layer, tasks] of byLayer) {
        context.wave = Math.max(context.wave, layer);
        await startParts(context, layer, tasks);
      }
    }
    for (const result of context.integrations.splice(0)) {
      await announce(context, result.wave, result);
      inFlight = null;
    }
    // A wave's worth: every task up to that layer has closed. Nothing waits for it.
    const worth =
      layers.findLastIndex((_, layer) =>
        layers
          .slice(0, layer + 1)
          .flat()
          .every((id) => isClosed(state.get(id)!.state)),
      ) + 1;
    const idle = context.openParts.size === 0 && state.startable(false).length === 0;
    const changed = state.all((record) => record.state === 'passed').length !== integrated;
    if (inFlight === null && changed && (worth > 0 || idle) && worth >= (idle ? 0 : 1)) {
      integrated = state.all((record) => record.state === 'passed').length;
      inFlight = Math.max(1, worth);
      await getExternalWorkflowHandle(mainlineId(context.run)).signal(integrate, { wave: inFlight });
    }
    if (idle && inFlight === null && !context.paused && state.isDone()) return 'done';
    await nextChange(context);
    if (historyIsLong() && inFlight === null) return 'renew';
  }
}
