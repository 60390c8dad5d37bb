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
import { gitText } from './git-process.ts';
import type { HubPlace } from './hub-place.ts';
import { entriesBetween, readHeads } from './line.ts';
import { packQuarantine, publish, repackWhenMany } from './publish.ts';
import { openQuarantine } from './quarantine.ts';
import { INFLIGHT, NEXT, isOid, isSafeId, readRefs, updateRefs } from './refs.ts';
import type { RefUpdate } from './refs.ts';

const SWAPS_LOST = 10;

export async function mergeRequests(
  hub: HubPlace,
  requests: readonly MergeRequest[],
  rules: MergeRules = NO_RULES,
): Promise<MergeOutcome[]> {
  if (requests.length === 0) return [];
  const pins = await pin(hub.dir, requests);
  try {
    for (let lost = 0; ; lost++) {
      try {
        return await mergeOnce(hub, requests, rules);
      } catch (error) {
        if (!(error instanceof RefMoved) || error.ref !== NEXT || lost >= SWAPS_LOST) throw error;
      }
    }
  } finally {
    await unpin(hub.dir, pins);
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

/** Holds the commits that are being merged, whatever deletes their refs meanwhile. */
async function pin(hubDir: string, requests: readonly MergeRequest[]): Promise<string[]> {
  const wanted = new Map<string, string>();
  for (const { task, attempt, commit } of requests) {
    if (isSafeId(task) && Number.isSafeInteger(attempt) && isOid(commit))
      wanted.set(`${INFLIGHT}${task}/${attempt}`, commit);
  }
  const known = new Set<string>();
  const input = [...wanted.values()].map((oid) => `${oid}\n`).join('');
  if (input !== '') {
    const out = await gitText(hubDir, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], { input });
    for (const answer of out.split('\n')) if (answer.endsWith(' commit')) known.add(answer.slice(0, 40));
  }
  const there = await readRefs(hubDir, INFLIGHT);
  const updates: RefUpdate[] = [];
  for (const [ref, to] of wanted) {
    // Pins of a process that was killed stay: the retry takes them over.
    if (known.has(to) && there.get(ref) !== to) updates.push({ ref, from: there.get(ref) ?? null, to });
  }
  await updateRefs(hubDir, updates);
  return [...wanted.keys()];
}

async function unpin(hubDir: string, refs: readonly string[]): Promise<void> {
  const there = await readRefs(hubDir, INFLIGHT);
  const updates = refs.filter((ref) => there.has(ref)).map((ref) => ({ ref, from: there.get(ref)!, to: null }));
  await updateRefs(hubDir, updates);
}
