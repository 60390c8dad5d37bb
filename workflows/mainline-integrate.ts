/** The loop of a mainline that makes integration points: the wave gate on `verified`, and `main` moves when it is green. */
import { entriesAfter, entriesUpTo } from '../spec/line.ts';
import { findCulprit, judge } from './judge.ts';
import { eject, ejectAll } from './mainline-eject.ts';
import type { MainlineState } from './mainline-state.ts';
import type { IntegrationResult } from './protocol.ts';
import { mainlineActivities } from './proxies.ts';

/** @param fixAttempts culprits taken out of one integration point before all of it is given up */
export async function integrateLoop(state: MainlineState, fixAttempts: number): Promise<void> {
  for (;;) {
    await state.running(() => state.wanted !== null && !state.isRebuilding);
    if (state.isOver) return;
    state.integration = await integrateOnce(state, state.wanted!, fixAttempts);
    state.wanted = null;
  }
}

async function integrateOnce(state: MainlineState, wave: number, fixAttempts: number): Promise<IntegrationResult> {
  const { run } = state;
  for (let fixes = 0; ; fixes++) {
    await state.running(() => !state.isRebuilding && (fixes === 0 || state.unverified.length === 0));
    const { main, verified } = state.line;
    if (main === verified) return { wave, outcome: 'unchanged', commit: main };
    const verdict = await judge(run, `wave-${wave}`, 'wave', verified, main);
    if (verdict.ok) {
      const { n } = await state.advance(() => mainlineActivities.advanceMain({ run, to: verified, wave }));
      const entries = entriesAfter(state.line.entries, verified);
      state.line = { ...state.line, main: verified, entries, greenPoints: n };
      return { wave, outcome: 'green', commit: verified, n };
    }
    const entries = entriesUpTo(state.line.entries, verified);
    const why = `It turned step ${verdict.step} of integration point ${wave} red. ${verdict.why}`;
    if (fixes >= fixAttempts) {
      await ejectAll(state, entries, why);
      return { wave, outcome: 'rolled-back', commit: main, why };
    }
    await eject(state, await findCulprit(run, 'wave', entries, main, verdict.step), 'main', why);
  }
}
