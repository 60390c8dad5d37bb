/**
 * The merge queue of a run: orders requests, has them merged, verified, and taken out again when they break what others built.
 *
 * Invariants:
 * 1. A rebuilding excludes every other operation on the hub. What the others do to the line is put together here, from their results
 *    and never from what they read: two that overlap may have read it in either order.
 * 2. `landed` is said only after `verified` has moved to, or past, the request's commit.
 * 3. Every request gets exactly one final answer; ejected work that had landed is told to runSpec instead.
 * 4. Merging never waits for a verification, verification never for a merge.
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
import { entriesAfter, entriesUpTo } from '../spec/line.ts';
import type { Line, LineEntry, MergeOutcome, MergeRequest, PlanTask, Policy } from '../spec/model.ts';
import { ejectCulprit, findCulprit, judge } from './judge.ts';
import type { Ejection } from './judge.ts';
import type { IntegrationResult, MainlineAnswer, MainlineReport, MergeOrder } from './protocol.ts';
import * as protocol from './protocol.ts';
import { mainlineActivities } from './proxies.ts';

/** Requests taken into one merge activity; what arrives meanwhile is the next batch. */
const BATCH = 50;

interface Carried {
  readonly queue: readonly MergeOrder[];
  readonly open: readonly MergeOrder[];
  readonly held: boolean;
  readonly closing: boolean;
  readonly wanted: number | null;
  readonly verifyAsked: boolean;
  readonly withdrawn: readonly string[];
}
export interface MainlineInput {
  readonly run: string;
  readonly plan: readonly PlanTask[];
  readonly policy: Pick<Policy, 'fixAttempts' | 'verify'>;
  /** Tasks judged by their own criteria: until a wave without them is integrated, `mainline` steps are not run. */
  readonly scaffold: readonly string[];
  readonly carried: Carried | null;
}

export async function mainline(input: MainlineInput): Promise<void> {
  const { run, policy } = input;
  const carried = input.carried;
  let plan = input.plan;
  const queue: MergeOrder[] = [...(carried?.queue ?? [])];
  /** Merged, not yet answered, by request id. */
  const open = new Map((carried?.open ?? []).map((order) => [order.id, order]));
  let held = carried?.held ?? false;
  let closing = carried?.closing ?? false;
  let wanted = carried?.wanted ?? null;
  let verifyAsked = carried?.verifyAsked ?? false;
  /** Merged or being merged, and no longer wanted: taken out before anything is verified. */
  const withdrawn: string[] = [...(carried?.withdrawn ?? [])];
  let merging = false;
  /** Moves of `verified` and `main` under way. */
  let advancing = 0;
  let rebuilding = false;
  let pausing = false; // for continue-as-new: loops end after what they are doing

  setHandler(protocol.requestMerge, (order) => {
    if (!open.has(order.id) && !queue.some(({ id }) => id === order.id)) queue.push(order);
  });
  setHandler(protocol.withdrawTask, ({ task }) => {
    for (let i = queue.length - 1; i >= 0; i--) if (queue[i]!.task === task) queue.splice(i, 1);
    for (const order of open.values()) {
      if (order.task !== task) continue;
      open.delete(order.id);
      withdrawn.push(order.id);
    }
  });
  setHandler(protocol.integrate, ({ wave }) => void (wanted = wave));
  setHandler(protocol.holdMerges, (hold) => void (held = hold));
  setHandler(protocol.planChanged, (changed) => void (plan = changed));
  setHandler(protocol.verifyNow, () => void (verifyAsked = true));
  setHandler(protocol.closeMainline, () => void (closing = true));
  setHandler(protocol.mergeQueueQuery, () => [
    ...queue.map((order) => entryOf(order, 'queued', held ? 'the run is paused' : 'its turn')),
    ...[...open.values()].map((order) => entryOf(order, 'merged', 'verification')),
  ]);

  let line: Line = await mainlineActivities.readLine({ run });
  const unverified = (): LineEntry[] => entriesAfter(line.entries, line.verified);
  const isOver = (): boolean =>
    pausing || (closing && queue.length === 0 && wanted === null && (unverified().length === 0 || held));
  const running = (ready: () => boolean): Promise<void> => condition(() => isOver() || (ready() && !held));

  const answer = async (order: MergeOrder | undefined, what: MainlineAnswer): Promise<void> => {
    if (order === undefined) return;
    open.delete(order.id);
    try {
      await getExternalWorkflowHandle(order.replyTo).signal(protocol.mainlineAnswer, what);
    } catch {
      // The task's workflow is gone (cancelled or terminated): there is nobody to tell; the refs say what happened.
    }
  };

  const news = {
    landedAgain: [] as LineEntry[],
    rolledBack: [] as LineEntry[],
    ejected: [] as MainlineReport['ejected'][number][],
  };
  let integration: IntegrationResult | null = null;
  const hasNews = (): boolean =>
    integration !== null || news.landedAgain.length + news.rolledBack.length + news.ejected.length > 0;

  const mergeLoop = async (): Promise<void> => {
    for (;;) {
      await running(() => queue.length > 0 && !rebuilding);
      if (isOver()) return;
      merging = true;
      const batch = queue.splice(0, BATCH);
      for (const order of batch) open.set(order.id, order);
      const merged = await mainlineActivities.mergeRequests.executeWithOptions(
        { summary: `merge ${batch.map(({ id }) => id).join(', ')}`.slice(0, 200) },
        [{ run, requests: batch.map(withoutReply) }],
      );
      const { next, entries } = merged.line;
      line = { ...line, next, entries: [...line.entries, ...entriesAfter(entries, line.next)] };
      merging = false;
      await Promise.all(merged.outcomes.map(answerMerge));
    }
  };
  /** What is final about a merge; a merged one hears when it has landed. */
  const answerMerge = async (outcome: MergeOutcome): Promise<void> => {
    const { id: request } = outcome;
    const order = open.get(request);
    if (outcome.kind === 'conflict') {
      const why = `Conflict with the mainline in ${outcome.paths.join(', ')}`;
      await answer(order, { request, kind: 'conflict', why });
    } else if (outcome.kind === 'refused') {
      await answer(order, { request, kind: 'refused', why: `${outcome.rule}: ${outcome.paths.join(', ')}` });
    } else if (entriesUpTo(line.entries, line.verified).some((entry) => entry.request === request)) {
      await answer(order, { request, kind: 'landed', commit: outcome.commit });
    }
  };
  /** Moves of refs do not overlap with a rebuilding. */
  const advance = async <T>(work: () => Promise<T>): Promise<T> => {
    advancing += 1;
    try {
      return await work();
    } finally {
      advancing -= 1;
    }
  };

  /** Takes the culprit out and tells everybody concerned. Merging waits meanwhile. */
  const eject = async (culprit: LineEntry, onto: 'main' | 'verified', why: string): Promise<void> => {
    await condition(() => !rebuilding);
    if (!line.entries.some(({ request }) => request === culprit.request)) return; // the other loop took it out
    rebuilding = true;
    await condition(() => !merging && advancing === 0);
    const before = line;
    const ejection: Ejection = await ejectCulprit(run, culprit, before, onto, plan, why);
    line = ejection.line;
    rebuilding = false;
    if (onto === 'main') {
      const gone = new Set([...ejection.ejected, ...ejection.conflicts].map(({ request }) => request));
      news.rolledBack.push(
        ...entriesUpTo(before.entries, before.verified).filter(
          ({ request }) => !gone.has(request) && !open.has(request),
        ),
      );
    }
    for (const entry of ejection.ejected) await out(entry, entry.request === culprit.request, why);
    for (const entry of ejection.conflicts)
      await out(entry, false, 'It conflicts with the line that was rebuilt without a culprit', true);
  };
  const out = async (entry: LineEntry, culprit: boolean, why: string, conflict = false): Promise<void> => {
    const order = open.get(entry.request);
    if (order === undefined) news.ejected.push({ entry, culprit, why });
    else
      await answer(order, {
        request: entry.request,
        kind: culprit ? 'ejected' : conflict ? 'conflict' : 'dependency-ejected',
        why,
      });
  };

  const verifyLoop = async (): Promise<void> => {
    for (;;) {
      await running(
        () => unverified().length > 0 && !rebuilding && (policy.verify !== 'wave' || verifyAsked || wanted !== null),
      );
      if (isOver()) return;
      for (const request of withdrawn.splice(0)) {
        await condition(() => !merging); // it may be in the batch that is being merged
        const entry = unverified().find((candidate) => candidate.request === request);
        if (entry !== undefined) await eject(entry, 'verified', 'Its task was cancelled');
      }
      verifyAsked = false;
      const entries = unverified();
      if (entries.length === 0) continue;
      const target = policy.verify === 'each' ? entries[0]! : entries.at(-1)!;
      const from = line.verified;
      const scaffolding = input.scaffold.includes(target.task);
      const verdict = await judge(run, 'mainline', 'mainline', target.commit, from, scaffolding ? [] : undefined);
      const judged = entriesUpTo(entries, target.commit);
      await condition(() => !rebuilding);
      if (!line.entries.some(({ commit }) => commit === target.commit)) continue; // the line was rebuilt meanwhile
      if (verdict.ok) {
        const to = target.commit;
        await advance(() => mainlineActivities.advanceVerified({ run, from: line.verified, to }));
        line = { ...line, verified: to };
        await Promise.all(
          judged.map(async (entry) => {
            const order = open.get(entry.request);
            if (order === undefined) news.landedAgain.push(entry);
            else await answer(order, { request: entry.request, kind: 'landed', commit: entry.commit });
          }),
        );
      } else {
        const culprit = await findCulprit(run, 'mainline', judged, from, verdict.step);
        await eject(culprit, 'verified', `It turned step ${verdict.step} of the mainline red. ${verdict.why}`);
      }
    }
  };

  const integrateOnce = async (wave: number): Promise<IntegrationResult> => {
    for (let fixes = 0; ; fixes++) {
      await running(() => !rebuilding && (fixes === 0 || unverified().length === 0));
      const { main, verified } = line;
      if (main === verified) return { wave, outcome: 'unchanged', commit: main };
      const verdict = await judge(run, `wave-${wave}`, 'wave', verified, main);
      if (verdict.ok) {
        const { n } = await advance(() => mainlineActivities.advanceMain({ run, to: verified, wave }));
        line = { ...line, main: verified, entries: entriesAfter(line.entries, verified), greenPoints: n };
        return { wave, outcome: 'green', commit: verified, n };
      }
      const entries = entriesUpTo(line.entries, verified);
      const why = `It turned step ${verdict.step} of integration point ${wave} red. ${verdict.why}`;
      if (fixes >= policy.fixAttempts) {
        await ejectAll(entries, why);
        return { wave, outcome: 'rolled-back', commit: main, why };
      }
      await eject(await findCulprit(run, 'wave', entries, main, verdict.step), 'main', why);
    }
  };
  const ejectAll = async (entries: readonly LineEntry[], why: string): Promise<void> => {
    await condition(() => !rebuilding);
    rebuilding = true;
    await condition(() => !merging && advancing === 0);
    const rebuilt = await mainlineActivities.rebuildLine({
      run,
      onto: 'main',
      drop: entries.map(({ request }) => request),
      why,
    });
    line = rebuilt.line;
    rebuilding = false;
    for (const entry of [...rebuilt.ejected, ...rebuilt.conflicts]) await out(entry, false, why);
  };

  const integrateLoop = async (): Promise<void> => {
    for (;;) {
      await running(() => wanted !== null && !rebuilding);
      if (isOver()) return;
      integration = await integrateOnce(wanted!);
      wanted = null;
    }
  };

  const reportLoop = async (until: () => boolean): Promise<void> => {
    for (let last = 0; ; last = Date.now()) {
      await condition(() => hasNews() || until());
      if (!hasNews()) return;
      const waitMs = integration === null ? last + 1000 - Date.now() : 0;
      if (waitMs > 0) await sleep(waitMs);
      const report: MainlineReport = {
        landedAgain: news.landedAgain.splice(0),
        rolledBack: news.rolledBack.splice(0),
        ejected: news.ejected.splice(0),
        integration,
      };
      integration = null;
      await getExternalWorkflowHandle(run).signal(protocol.mainlineReport, report);
    }
  };

  let done = false;
  const isLong = (): boolean => workflowInfo().continueAsNewSuggested || workflowInfo().historyLength > 3000;
  const renew = (): Promise<void> =>
    condition(() => done || (wanted === null && isLong())).then(() => {
      pausing = !done;
    });
  setCurrentDetails('Merges, verifies and integrates. Query `mergeQueue` tells who waits.');
  // One Promise.all: when the workflow is cancelled every loop's rejection is somebody's, none is left unhandled.
  const work = Promise.all([mergeLoop(), verifyLoop(), integrateLoop()]).then(() => void (done = true));
  await Promise.all([work, reportLoop(() => done), renew()]);
  if (pausing) {
    await continueAsNew<typeof mainline>({
      ...input,
      plan,
      carried: { queue, open: [...open.values()], held, closing, wanted, verifyAsked, withdrawn },
    });
  }
}

const withoutReply = ({ id, task, attempt, commit, base, engine, model, atMs }: MergeOrder): MergeRequest => ({
  id,
  task,
  attempt,
  commit,
  base,
  engine,
  model,
  atMs,
});

const entryOf = (order: MergeOrder, state: 'queued' | 'merged', waitsFor: string): protocol.QueueEntry => ({
  request: order.id,
  state,
  sinceMs: order.atMs,
  waitsFor,
});
