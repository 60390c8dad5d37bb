/** The loop of a mainline that verifies the head and moves `verified`. It never waits for a merge. */
import { condition } from '@temporalio/workflow';
import { entriesUpTo } from '../spec/line.ts';
import type { Policy } from '../spec/model.ts';
import { findCulprit, judge } from './judge.ts';
import { eject } from './mainline-eject.ts';
import type { MainlineState } from './mainline-state.ts';
import { mainlineActivities } from './proxies.ts';

export async function verifyLoop(
  state: MainlineState,
  verify: Policy['verify'],
  scaffold: readonly string[],
): Promise<void> {
  const { run } = state;
  for (;;) {
    await state.running(
      () =>
        state.unverified.length > 0 &&
        !state.isRebuilding &&
        (verify !== 'wave' || state.verifyAsked || state.wanted !== null),
    );
    if (state.isOver) return;
    await ejectWithdrawn(state);
    state.verifyAsked = false;
    const entries = state.unverified;
    if (entries.length === 0) continue;
    const target = verify === 'each' ? entries[0]! : entries.at(-1)!;
    const from = state.line.verified;
    const planned = state.plan.find(({ id }) => id === target.task)?.scaffold ?? false;
    const only = planned || scaffold.includes(target.task) ? [] : undefined;
    const verdict = await judge(run, 'mainline', 'mainline', target.commit, from, only);
    const judged = entriesUpTo(entries, target.commit);
    await condition(() => !state.isRebuilding);
    if (!state.line.entries.some(({ commit }) => commit === target.commit)) continue; // the line was rebuilt meanwhile
    if (verdict.ok) {
      const to = target.commit;
      await state.advance(() => mainlineActivities.advanceVerified({ run, from: state.line.verified, to }));
      state.line = { ...state.line, verified: to };
      await Promise.all(
        judged.map(async (entry) => {
          const order = state.open.get(entry.request);
          if (order === undefined) state.news.landedAgain.push(entry);
          else await state.answer(order, { request: entry.request, kind: 'landed', commit: entry.commit });
        }),
      );
    } else {
      const culprit = await findCulprit(run, 'mainline', judged, from, verdict.step);
      await eject(state, culprit, 'verified', `It turned step ${verdict.step} of the mainline red. ${verdict.why}`);
    }
  }
}

async function ejectWithdrawn(state: MainlineState): Promise<void> {
  for (const request of state.withdrawn.splice(0)) {
    await condition(() => !state.merging); // it may be in the batch that is being merged
    const entry = state.unverified.find((candidate) => candidate.request === request);
    if (entry !== undefined) await eject(state, entry, 'verified', 'Its task was cancelled');
  }
}
