/**
 * The sockets of attempts: one directory each, mounted read-only into the attempt's container.
 *
 * 1. An attempt's directory holds its socket and nothing else; its name cannot be guessed.
 * 2. Written down before it is used: a gateway that was killed opens the same sockets at the same places again, and the containers that
 *    have the directories mounted go on.
 * 3. When `close` returns, no call of the attempt is under way and nothing can be asked through its socket any more.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import type { Caller } from './types.ts';

export const SOCKET = 'api.sock';

const Entry = z.object({
  id: z.string().regex(/^[0-9a-f]{24}$/),
  caller: z.object({
    run: z.string(),
    task: z.string(),
    attempt: z.number().int(),
    role: z.string(),
    seat: z.string().exactOptional(),
    model: z.string().nullable(),
  }),
});
type Entry = z.infer<typeof Entry>;

type CallerKey = Pick<Caller, 'run' | 'task' | 'attempt' | 'role' | 'seat'>;

export interface Sockets {
  /** Directory to mount. The same attempt asked for again gets the same one. */
  open(caller: Caller): Promise<string>;
  /** Nothing happens when it is not open. */
  close(caller: CallerKey): Promise<void>;
  callers(): Caller[];
  /** Ends all servers; what was open stays written down. */
  stop(): Promise<void>;
}

/** @param dir a directory of the gateway's own, on the host whose containers mount it */
export async function openSockets(dir: string, serve: (caller: Caller) => Server): Promise<Sockets> {
  const entries = join(dir, 'attempts');
  const sockets = join(dir, 's');
  // The directory of all sockets can be passed through but not listed: an attempt's own name is its secret.
  await mkdir(sockets, { recursive: true, mode: 0o711 });
  await mkdir(entries, { recursive: true, mode: 0o700 });
  const running = new Map<string, { entry: Entry; server: Server; opened: Promise<string> }>();
  const keyOf = ({ run, task, attempt, role, seat = '' }: CallerKey): string =>
    JSON.stringify([run, task, attempt, role, seat]);

  const start = (entry: Entry): Promise<string> => {
    const server = serve(entry.caller);
    const opened = listen(server, join(sockets, entry.id));
    running.set(keyOf(entry.caller), { entry, server, opened });
    return opened;
  };
  for (const name of await readdir(entries)) {
    const entry = Entry.safeParse(await readJson(join(entries, name)));
    if (entry.success) await start(entry.data);
    else await rm(join(entries, name), { force: true }); // a write that was cut off: nobody was told of it
  }

  return {
    async open(caller) {
      const before = running.get(keyOf(caller));
      if (before !== undefined) return before.opened;
      const entry: Entry = { id: randomBytes(12).toString('hex'), caller: { ...caller } };
      const opened = start(entry);
      try {
        await writeWhole(join(entries, `${entry.id}.json`), JSON.stringify(entry));
        return await opened;
      } catch (error) {
        running.delete(keyOf(caller));
        throw error;
      }
    },
    async close(caller) {
      const found = running.get(keyOf(caller));
      if (found === undefined) return;
      running.delete(keyOf(caller));
      await rm(join(entries, `${found.entry.id}.json`), { force: true });
      await end(found.server);
      await rm(join(sockets, found.entry.id), { recursive: true, force: true });
    },
    callers: () => [...running.values()].map(({ entry }) => entry.caller),
    async stop() {
      await Promise.all([...running.values()].map(({ server }) => end(server)));
      running.clear();
    },
  };
}

async function listen(server: Server, dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o755 });
  await rm(join(dir, SOCKET), { force: true });
  // A socket's path may have 107 bytes, a state directory more: through the open directory it is always short.
  const handle = await open(dir, 'r');
  try {
    server.listen(`/proc/self/fd/${handle.fd}/${SOCKET}`);
    await once(server, 'listening');
  } finally {
    await handle.close();
  }
  await chmod(join(dir, SOCKET), 0o666);
  return dir;
}

async function end(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}
