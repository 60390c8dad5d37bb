/**
 * Merges requests into next.
 *
 * 1. Exactly once: a request that is on the line already is answered with its commit, whoever asks again and whenever.
 * 2. All or nothing on disk: objects first, durable, then one compare-and-swap of next. A crash in between leaves next where it
 *    was, and the retry makes the same commits.
 * 3. First come, first served; a conflict or a refusal holds up nobody behind it.
 * 4. A lost swap means another writer: the chain is dropped, the line read again, the chain made anew.
 */
import type { MergeOutcome, MergeRequest } from '../spec/model.ts';
import { NO_RULES, addLink } from './chain.ts';
import type { MergeRules } from './chain.ts';
import { RefMoved } from './errors.ts';
import { gitRun } from './git-process.ts';
import type { HubPlace } from './hub-place.ts';
import { entriesBetween, readHeads } from './line.ts';
import { packQuarantine, publish, repackWhenMany } from './publish.ts';
import { openQuarantine } from './quarantine.ts';
import { INFLIGHT, NEXT, TASKS, isOid, isSafeId, readRefs, updateRefs } from './refs.ts';
import type { RefUpdate } from './refs.ts';

const SWAPS_LOST = 10;

export async function mergeRequests(
  hub: HubPlace,
  requests: readonly MergeRequest[],
  rules: MergeRules = NO_RULES,
): Promise<MergeOutcome[]> {
  if (requests.length === 0) return [];
  const unpin = await pin(hub.dir, requests);
  try {
    for (let lost = 0; ; lost++) {
      try {
        return await mergeOnce(hub, requests, rules);
      } catch (error) {
        if (!(error instanceof RefMoved) || error.ref !== NEXT || lost >= SWAPS_LOST) throw error;
      }
    }
  } finally {
    await updateRefs(hub.dir, unpin);
    await repackWhenMany(hub.dir);
  }
}

async function mergeOnce(hub: HubPlace, requests: readonly MergeRequest[], rules: MergeRules): Promise<MergeOutcome[]> {
  const { base, next } = await readHeads(hub.dir);
  const landed = new Map((await entriesBetween(hub.dir, base, next)).map((entry) => [entry.request, entry.commit]));
  const quarantine = await openQuarantine(hub.dir);
  try {
    const outcomes: MergeOutcome[] = [];
    let tip = next;
    for (const request of requests) {
      const commit = landed.get(request.id);
      if (commit !== undefined) {
        outcomes.push({ id: request.id, kind: 'already', commit });
        continue;
      }
      const outcome = await addLink(hub.dir, hub.run, quarantine, tip, request, rules);
      outcomes.push(outcome);
      if (outcome.kind !== 'merged') continue;
      tip = outcome.commit;
      landed.set(request.id, tip);
    }
    const pack = await packQuarantine(hub.dir, quarantine, tip, next);
    await hub.faults?.('before-swap');
    if (pack !== null) await publish(hub.dir, quarantine, [pack], [{ ref: NEXT, from: next, to: tip }]);
    return outcomes;
  } finally {
    await quarantine.close();
  }
}

/** Holds commits that are being merged and that no attempt's ref holds. Returns the pins to take away again. */
async function pin(hubDir: string, requests: readonly MergeRequest[]): Promise<RefUpdate[]> {
  const sound = new Map<string, string>();
  for (const { id, task, attempt, commit } of requests) {
    if (isSafeId(task) && attempt >= 1 && isOid(commit) && id === `${task}/${attempt}`) sound.set(id, commit);
  }
  const refs = [...sound.keys()].flatMap((id) => [`${TASKS}${id}`, `${INFLIGHT}${id}`]);
  const there = refs.length === 0 ? new Map<string, string>() : await readRefs(hubDir, ...refs);
  const updates: RefUpdate[] = [];
  const undo: RefUpdate[] = [];
  for (const [id, commit] of sound) {
    const ref = `${INFLIGHT}${id}`;
    // A pin of a process that was killed is taken over.
    const from = there.get(ref) ?? null;
    const needed = there.get(`${TASKS}${id}`) !== commit && (await hasCommit(hubDir, commit));
    if (needed && from !== commit) updates.push({ ref, from, to: commit });
    if (needed || from !== null) undo.push({ ref, from: needed ? commit : from, to: null });
  }
  await updateRefs(hubDir, updates);
  return undo;
}

async function hasCommit(hubDir: string, oid: string): Promise<boolean> {
  return (await gitRun(hubDir, ['cat-file', '-e', `${oid}^{commit}`], {}, [0, 1, 128])).exitCode === 0;
}
