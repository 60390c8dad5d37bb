/**
 * Makes the line again without some requests.
 *
 * 1. What is kept is merged again from its own commit with its own base, in the old order. The part before the first drop keeps
 *    its commit ids.
 * 2. What goes is kept under refs/swarmline/ejected/<task>/<n>, in the same transaction that moves next. What no longer applies
 *    without the dropped goes the same way, and is reported apart.
 * 3. main never moves. Asked again after a crash, it answers what it answered first.
 */
import { createHash } from 'node:crypto';
import type { LineEntry } from '../spec/model.ts';
import { NO_RULES, addLink } from './chain.ts';
import type { MergeRules } from './chain.ts';
import { HubError, RefMoved } from './errors.ts';
import { git, gitText } from './git-process.ts';
import type { HubPlace } from './hub-place.ts';
import { entriesBetween, entryOf, readHeads } from './line.ts';
import type { Heads, LandedEntry } from './line.ts';
import { packQuarantine, publish } from './publish.ts';
import { openQuarantine } from './quarantine.ts';
import { EJECTED, NEXT, REBUILDS, VERIFIED, listRefs, readRef } from './refs.ts';
import type { RefUpdate } from './refs.ts';

export interface RebuildInput {
  readonly onto: 'main' | 'verified';
  /** Request ids to take out. */
  readonly drop: readonly string[];
  /** Rules of the tasks, checked again on what is kept. Default: only the hub's own. */
  readonly rules?: MergeRules;
}

export interface Rebuilt {
  readonly next: string;
  /** What is on the line above `onto` now, with its new commits. */
  readonly kept: LineEntry[];
  /** What was asked to be dropped and was on the line, with its old commits. */
  readonly ejected: LineEntry[];
  /** What no longer applied: taken out as well. `paths` is empty when it was refused rather than in conflict. */
  readonly conflicts: { readonly entry: LineEntry; readonly paths: string[] }[];
}

const SWAPS_LOST = 10;

export async function rebuild(hub: HubPlace, input: RebuildInput): Promise<Rebuilt> {
  for (let lost = 0; ; lost++) {
    try {
      return await rebuildOnce(hub, input);
    } catch (error) {
      if (!(error instanceof RefMoved) || error.ref !== NEXT || lost >= SWAPS_LOST) throw error;
    }
  }
}

async function rebuildOnce(hub: HubPlace, input: RebuildInput): Promise<Rebuilt> {
  const heads = await readHeads(hub.dir);
  const drop = new Set(input.drop);
  const onto = heads[input.onto];
  const above = await entriesBetween(hub.dir, onto, heads.next);
  if (input.onto === 'verified' && drop.size > 0) {
    const below = (await entriesBetween(hub.dir, heads.main, heads.verified)).find((entry) => drop.has(entry.request));
    if (below !== undefined) throw new HubError(`${below.request} is under verified: rebuild onto main to drop it`);
  }
  const record = `${REBUILDS}${createHash('sha1')
    .update(JSON.stringify([input.onto, [...drop].toSorted()]))
    .digest('hex')}`;
  const ejected = above.filter((entry) => drop.has(entry.request));
  if (ejected.length === 0 && drop.size > 0) {
    const before = await readRef(hub.dir, record);
    if (before !== null) return { ...(await readRecord(hub.dir, before)), next: heads.next, kept: above.map(entryOf) };
  }

  const quarantine = await openQuarantine(hub.dir);
  try {
    let tip = onto;
    let untouched = onto;
    const kept: LineEntry[] = [];
    const conflicts: { entry: LineEntry; paths: string[] }[] = [];
    for (const entry of above) {
      if (drop.has(entry.request)) continue;
      // On the same parent the same commit would come out.
      if (tip === (above[kept.length - 1]?.commit ?? onto) && above[kept.length] === entry) {
        tip = entry.commit;
        untouched = tip;
        kept.push(entryOf(entry));
        continue;
      }
      const outcome = await addLink(
        hub.dir,
        hub.run,
        quarantine,
        tip,
        entry.asked,
        input.rules ?? NO_RULES,
        entry.subject,
      );
      if (outcome.kind === 'merged') {
        tip = outcome.commit;
        kept.push({ ...entryOf(entry), commit: tip });
      } else conflicts.push({ entry: entryOf(entry), paths: outcome.kind === 'conflict' ? [...outcome.paths] : [] });
    }
    const result = { ejected: ejected.map(entryOf), conflicts };
    const updates = await refUpdates(hub, heads, input.onto, tip, [
      ...result.ejected,
      ...conflicts.map((c) => c.entry),
    ]);
    const packs = await packQuarantine(hub.dir, quarantine, tip, untouched);
    if (ejected.length > 0) {
      const blob = await gitText(hub.dir, ['hash-object', '-w', '--stdin'], { input: JSON.stringify(result) });
      const from = await readRef(hub.dir, record);
      if (from !== blob) updates.push({ ref: record, from, to: blob });
    }
    await hub.faults?.('before-swap');
    await publish(hub.dir, quarantine, packs === null ? [] : [packs], updates);
    await hub.faults?.('after-swap');
    return { next: tip, kept, ...result };
  } finally {
    await quarantine.close();
  }
}

async function refUpdates(
  hub: HubPlace,
  heads: Heads,
  onto: RebuildInput['onto'],
  tip: string,
  gone: readonly LineEntry[],
): Promise<RefUpdate[]> {
  const updates: RefUpdate[] = [];
  if (tip !== heads.next) updates.push({ ref: NEXT, from: heads.next, to: tip });
  if (onto === 'main' && heads.verified !== heads.main)
    updates.push({ ref: VERIFIED, from: heads.verified, to: heads.main });
  const there = await listRefs(hub.dir, EJECTED);
  const known = new Set(there.values());
  const numbers = new Map<string, number>();
  for (const ref of there.keys()) {
    const [task = '', n = '0'] = ref.slice(EJECTED.length).split('/');
    numbers.set(task, Math.max(numbers.get(task) ?? 0, Number(n)));
  }
  for (const entry of gone) {
    if (known.has(entry.commit)) continue;
    const n = (numbers.get(entry.task) ?? 0) + 1;
    numbers.set(entry.task, n);
    updates.push({ ref: `${EJECTED}${entry.task}/${n}`, from: null, to: entry.commit });
  }
  return updates;
}

async function readRecord(hubDir: string, blob: string): Promise<Pick<Rebuilt, 'ejected' | 'conflicts'>> {
  return JSON.parse((await git(hubDir, ['cat-file', 'blob', blob])).toString('utf8')) as Pick<
    Rebuilt,
    'ejected' | 'conflicts'
  >;
}

export type { LandedEntry };
