/** Taking work out of the line again, and telling everybody concerned. */
import { entriesUpTo } from '../spec/line.ts';
import type { LineEntry } from '../spec/model.ts';
import { ejectCulprit } from './judge.ts';
import type { MainlineState } from './mainline-state.ts';
import { mainlineActivities } from './proxies.ts';

/** Takes the culprit out, and what depends on it. Does nothing where another loop did so in the meantime. */
export async function eject(
  state: MainlineState,
  culprit: LineEntry,
  onto: 'main' | 'verified',
  why: string,
): Promise<void> {
  const ejection = await state.rebuildAlone(
    async () => {
      const before = state.line;
      return { ...(await ejectCulprit(state.run, culprit, before, onto, state.plan, why)), before };
    },
    () => state.line.entries.some(({ request }) => request === culprit.request),
  );
  if (ejection === null) return;
  if (onto === 'main') {
    const { before } = ejection;
    const gone = new Set([...ejection.ejected, ...ejection.conflicts].map(({ request }) => request));
    state.news.rolledBack.push(
      ...entriesUpTo(before.entries, before.verified).filter(
        ({ request }) => !gone.has(request) && !state.open.has(request),
      ),
    );
  }
  for (const entry of ejection.ejected) await tell(state, entry, entry.request === culprit.request, why);
  for (const entry of ejection.conflicts)
    await tell(state, entry, false, 'It conflicts with the line that was rebuilt without a culprit', true);
}

/** Nothing came green within the fix budget: the line goes back to main, and nobody is blamed. */
export async function ejectAll(state: MainlineState, entries: readonly LineEntry[], why: string): Promise<void> {
  const drop = entries.map(({ request }) => request);
  const rebuilt = await state.rebuildAlone(() =>
    mainlineActivities.rebuildLine({ run: state.run, onto: 'main', drop, culprit: null, why }),
  );
  if (rebuilt === null) return;
  for (const entry of [...rebuilt.ejected, ...rebuilt.conflicts]) await tell(state, entry, false, why);
}

async function tell(
  state: MainlineState,
  entry: LineEntry,
  culprit: boolean,
  why: string,
  conflict = false,
): Promise<void> {
  const order = state.open.get(entry.request);
  const kind = culprit ? 'ejected' : conflict ? 'conflict' : 'dependency-ejected';
  if (order === undefined) state.news.ejected.push({ entry, culprit, why });
  else await state.answer(order, { request: entry.request, kind, why });
}
