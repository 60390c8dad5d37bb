/** A real origin and a real hub in a temporary directory, and agents that commit. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { Readable } from 'node:stream';
import type { MergeRequest } from '../../../spec/model.ts';
import { git, gitText, openQuarantine, readFileAt, writeCommit } from '../../../mainline/git.ts';
import { createHub, openHub } from '../../../mainline/hub.ts';
import type { Hub } from '../../../mainline/hub.ts';
import type { HubPlace } from '../../../mainline/hub-place.ts';

// Some hundred git processes a test, on a machine that has other work.
jest.setTimeout(120_000);

/** path → content; null deletes. `mode` other than 100644 in an object. */
export type Files = Record<string, string | null | { mode: string; content: string } | { mode: string; oid: string }>;

export const AT_MS = Date.UTC(2026, 10, 30, 12);

export interface World {
  readonly root: string;
  readonly origin: string;
  readonly url: string;
  readonly hub: Hub;
  readonly base: string;
  /** Commits files on top of `base` the way a host does and hands it in; returns the request. */
  attempt(
    task: string,
    files: Files,
    options?: { base?: string; attempt?: number; goal?: string; take?: boolean },
  ): Promise<MergeRequest>;
  file(treeish: string, path: string): Promise<string | null>;
  /** The hub again, as a process would see it that started now, with a fault planted. */
  reopen(faults?: HubPlace['faults']): Promise<Hub>;
  close(): Promise<void>;
}

/** Makes a tree of `files` over a tree-ish in `gitDir` (objects to `env`), with git's own index: names and modes as given. */
export async function treeWith(
  gitDir: string,
  over: string | null,
  files: Files,
  env: Record<string, string> = {},
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'swarmline-index-'));
  const all = { ...env, GIT_INDEX_FILE: join(dir, 'index') };
  try {
    if (over !== null) await git(gitDir, ['read-tree', over], { env: all });
    const paths = Object.keys(files);
    const texts = paths.map((path) => {
      const file = files[path]!;
      return file === null ? null : typeof file === 'string' ? file : 'content' in file ? file.content : null;
    });
    // One process for all of them.
    const written = paths.map((_, n) => join(dir, String(n)));
    await Promise.all(texts.flatMap((text, n) => (text === null ? [] : [writeFile(written[n]!, text)])));
    const hashing = written.filter((_, n) => texts[n] !== null);
    const input = hashing.map((path) => `${path}\n`).join('');
    const out = await gitText(gitDir, ['hash-object', '-w', '--no-filters', '--stdin-paths'], { env: all, input });
    const oids = new Map(out.split('\n').map((oid, n) => [hashing[n], oid]));
    const records = paths.map((path, n) => {
      const file = files[path]!;
      if (file === null) return `0 ${'0'.repeat(40)}\t${path}\0`;
      const mode = typeof file === 'string' ? '100644' : file.mode;
      const oid = typeof file !== 'string' && 'oid' in file ? file.oid : oids.get(written[n]);
      return `${mode} ${oid ?? ''}\t${path}\0`;
    });
    await git(gitDir, ['update-index', '--add', '-z', '--index-info'], { env: all, input: records.join('') });
    return await gitText(gitDir, ['write-tree', '--missing-ok'], { env: all });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export async function world(files: Files, union: string[] = []): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), 'swarmline-mainline-'));
  const origin = join(root, 'origin.git');
  await git(root, ['init', '--quiet', '--bare', '--initial-branch=main', origin], { env: { GIT_DIR: origin } });
  const tree = await treeWith(origin, null, files);
  const first = await writeCommit(origin, { tree, parents: [], message: 'First', atMs: AT_MS - 1_000_000 });
  await git(origin, ['update-ref', 'refs/heads/main', first]);
  const dir = join(root, 'hubs', 'run-1.git');
  const url = `file://${origin}`;
  const hub = await createHub({ dir, url, branch: 'main', credential: null, union });
  let clock = AT_MS;
  return {
    root,
    origin,
    url,
    hub,
    base: first,
    attempt: async (task, changed, options = {}) => {
      const base = options.base ?? first;
      const attempt = options.attempt ?? 1;
      const quarantine = await openQuarantine(hub.dir, root);
      try {
        const env = { ...quarantine.env };
        const made = await treeWith(hub.dir, base, changed, env);
        const message = options.goal ?? `Do ${task}`;
        const commit = await writeCommit(hub.dir, { tree: made, parents: [base], message, atMs: AT_MS }, { env });
        const input = `${commit}\n^${base}\n`;
        if (options.take !== false) {
          const pack = await git(hub.dir, ['pack-objects', '--revs', '--thin', '--stdout', '-q'], { env, input });
          await hub.takePack({ task, attempt, commit, base }, Readable.from([pack]));
        }
        clock += 1500;
        return { id: `${task}/${attempt}`, task, attempt, commit, base, engine: 'scripted', model: null, atMs: clock };
      } finally {
        await quarantine.close();
      }
    },
    file: async (treeish, path) => (await readFileAt(hub.dir, treeish, path))?.toString('utf8') ?? null,
    reopen: (faults) => openHub(dir, { faults }),
    close: () => rm(root, { recursive: true, force: true }),
  };
}
