/** The loop of a mainline that merges what is asked for. It never waits for a verification. */
import { entriesAfter, entriesUpTo } from '../spec/line.ts';
import type { MergeOutcome, MergeRequest } from '../spec/model.ts';
import type { MainlineState } from './mainline-state.ts';
import type { MergeOrder } from './protocol.ts';
import { mainlineActivities } from './proxies.ts';

/** Requests taken into one merge activity; what arrives meanwhile is the next batch. */
const BATCH = 50;

export async function mergeLoop(state: MainlineState): Promise<void> {
  for (;;) {
    await state.running(() => state.queue.length > 0 && !state.isRebuilding);
    if (state.isOver) return;
    state.merging = true;
    const batch = state.queue.splice(0, BATCH);
    for (const order of batch) state.open.set(order.id, order);
    const merged = await mainlineActivities.mergeRequests.executeWithOptions(
      { summary: `merge ${batch.map(({ id }) => id).join(', ')}`.slice(0, 200) },
      [{ run: state.run, requests: batch.map(withoutReply) }],
    );
    const { next, entries } = merged.line;
    const { line } = state;
    state.line = { ...line, next, entries: [...line.entries, ...entriesAfter(entries, line.next)] };
    state.merging = false;
    await Promise.all(merged.outcomes.map((outcome) => answerMerge(state, outcome)));
  }
}

/** What is final about a merge; a merged one hears when it has landed. */
async function answerMerge(state: MainlineState, outcome: MergeOutcome): Promise<void> {
  const { id: request } = outcome;
  const { line } = state;
  const order = state.open.get(request);
  if (outcome.kind === 'conflict') {
    const why = `Conflict with the mainline in ${outcome.paths.join(', ')}`;
    await state.answer(order, { request, kind: 'conflict', why });
  } else if (outcome.kind === 'refused') {
    await state.answer(order, { request, kind: 'refused', why: `${outcome.rule}: ${outcome.paths.join(', ')}` });
  } else if (entriesUpTo(line.entries, line.verified).some((entry) => entry.request === request)) {
    await state.answer(order, { request, kind: 'landed', commit: outcome.commit });
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
