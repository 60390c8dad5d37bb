/**
 * A run's hub and everything that may be done to it. Rooms above use this and nothing below.
 *
 * 1. Operations that move the line run one after the other in this process.
 */
import { realpath } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Line, LineEntry, MergeOutcome, MergeRequest } from '../spec/model.ts';
import type { MergeRules } from './chain.ts';
import { HubError } from './errors.ts';
import { makeHub, runOf } from './hub-create.ts';
import type { CreateHubInput } from './hub-create.ts';
import type { HubPlace } from './hub-place.ts';
import { findAttempt, takePack } from './intake.ts';
import type { IntakeLimits, TaskCommit } from './intake-limits.ts';
import { advanceMain, advanceVerified, landedRequests, readHeads, readLine } from './line.ts';
import type { Heads } from './line.ts';
import { mergeRequests } from './merge.ts';
import { sweepOnce } from './leftovers.ts';
import { serialised } from './mutex.ts';
import { pruneTasks } from './prune.ts';
import { repackWhenMany } from './publish.ts';
import type { PruneInput } from './prune.ts';
import { rebuild } from './rebuild.ts';
import type { RebuildInput, Rebuilt } from './rebuild.ts';

export interface Hub extends HubPlace {
  heads(): Promise<Heads>;
  line(): Promise<Line>;
  /** Everything that landed under a ref or commit since the run began, oldest first. */
  landed(ref: string): Promise<LineEntry[]>;
  /** One outcome per request, in order. Throws RefMoved only when another writer keeps winning. */
  merge(requests: readonly MergeRequest[], rules?: MergeRules): Promise<MergeOutcome[]>;
  /** Throws RefMoved when verified is not at `from` or `to` is not on the line any more. */
  advanceVerified(from: string, to: string): Promise<void>;
  /** Throws HubError when `to` is not verified. */
  advanceMain(to: string): Promise<{ n: number }>;
  rebuild(input: RebuildInput): Promise<Rebuilt>;
  /** Throws IntakeRefused. */
  takePack(claim: TaskCommit, pack: Readable, limits?: IntakeLimits): Promise<void>;
  findAttempt(task: string, attempt: number): Promise<string | null>;
  /** Returns the refs that are gone. */
  prune(input: PruneInput): Promise<string[]>;
}

/** Makes the hub unless it is there, and opens it. Throws RepositoryError. */
export async function createHub(input: CreateHubInput): Promise<Hub> {
  await serialised(input.dir, () => makeHub(input));
  return openHub(input.dir);
}

/** Opens a hub that is there. Throws HubError. */
export async function openHub(dir: string, options: Pick<HubPlace, 'faults'> = {}): Promise<Hub> {
  const run = runOf(dir);
  const real = await realpath(dir).catch(() => {
    throw new HubError(`Run ${run} has no hub here`);
  });
  await sweepOnce(real);
  const place: HubPlace = { dir: real, run, faults: options.faults };
  const alone = <T>(work: () => Promise<T>): Promise<T> => serialised(real, work);
  return {
    ...place,
    heads: () => readHeads(real),
    line: () => alone(() => readLine(real)),
    landed: (ref) => landedRequests(real, ref),
    merge: (requests, rules) => alone(() => mergeRequests(place, requests, rules)),
    advanceVerified: (from, to) => alone(() => advanceVerified(real, from, to)),
    advanceMain: (to) => alone(() => advanceMain(real, to)),
    rebuild: (input) => alone(() => rebuild(place, input)),
    takePack: async (claim, pack, limits) => {
      // Beside the merges, not between them: a slow host holds up nobody, and its ref is its own.
      await takePack(place, claim, pack, limits);
      await alone(() => repackWhenMany(real));
    },
    findAttempt: (task, attempt) => findAttempt(place, task, attempt),
    prune: (input) => alone(() => pruneTasks(place, input)),
  };
}
