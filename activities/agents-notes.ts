/** What agents of a run told each other, for whoever is asked next. */
import type { AttemptDeps } from './attempt-ports.ts';

const NOTES = 40;
/** Kinds of entries that agents write (gateway/tools.ts); the others are ours. */
const BY_AGENTS: ReadonlySet<string> = new Set(['discovery', 'failure', 'decision']);

/** Oldest first. */
export async function agentsNotes(run: string, deps: Pick<AttemptDeps, 'store'>): Promise<string[]> {
  const entries = await deps.store.workLog(run);
  return entries
    .filter(({ kind }) => BY_AGENTS.has(kind))
    .slice(-NOTES)
    .map(({ kind, task, message }) => `${kind}${task === null ? '' : ` (${task})`}: ${message}`);
}
