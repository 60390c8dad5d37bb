/** What agents of a run told each other, for whoever is asked next. */
import type { AttemptDeps } from './attempt-ports.ts';

const NOTES = 40;
/** Kinds of entries that agents write (gateway/tools.ts), or that are for them; the others are for people. */
const FOR_AGENTS = ['discovery', 'failure', 'decision'];

/** Oldest first. */
export async function agentsNotes(run: string, deps: Pick<AttemptDeps, 'store'>): Promise<string[]> {
  const entries = await deps.store.workLog(run, { kinds: FOR_AGENTS, limit: NOTES });
  return entries.map(({ kind, task, message }) => `${kind}${task === null ? '' : ` (${task})`}: ${message}`);
}
