/** What a superseded decision leaves behind in files that nobody touches: told to planners and agents, who read the work log. */
import { staleReferences } from '../sandbox/gate-own.ts';
import { digest } from '../spec/gate/signature.ts';
import type { Decision } from '../spec/plan/index.ts';
import type { AttemptDeps } from './attempt-ports.ts';

/** Places named in one entry. */
const NAMED = 20;

/** The same places are told once. */
export async function tellStale(
  run: string,
  on: { readonly gitDir: string; readonly tree: string; readonly decisions: readonly Decision[] },
  deps: Pick<AttemptDeps, 'store'>,
  signal: AbortSignal,
): Promise<void> {
  const stale = await staleReferences(on.gitDir, on.tree, on.decisions, signal);
  if (stale.length === 0) return;
  const places = stale.map(({ path, line, message }) => `${path}:${line}: ${message}`);
  const more = places.length > NAMED ? `\n… and ${places.length - NAMED} more` : '';
  const message = `Files that landed refer to decisions that were superseded, and need a task that makes them follow:\n${places.slice(0, NAMED).join('\n')}${more}`;
  await deps.store.note(run, { key: `stale-decisions/${digest(places.join('\n'))}`, kind: 'decision', message });
}
