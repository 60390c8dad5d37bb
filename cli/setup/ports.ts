/** Who holds a TCP port of this machine, and ports that nobody holds. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { MissingError } from '../exit.ts';

/** Can this address be listened on now? */
export function portFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Does something accept connections there? */
export function portAnswers(port: number, host = '127.0.0.1', timeoutMs = 2_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** `count` consecutive free ports, the first of them. Another process may still take one before it is used. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await Promise.all(Array.from({ length: count }, (_, index) => portFree(first + index)));
    if (free.every(Boolean)) return first;
  }
  throw new Error(`no ${count} free ports in a row`);
}

/** The socket inodes that listen on a port, from the text of /proc/net/tcp or tcp6. */
export function listeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) === true && fields[3] === '0A')
    .map((fields) => fields[9] ?? '');
}

/** The process that listens on a port: its id and command line; null where that cannot be found out. */
export async function portHolder(port: number): Promise<{ pid: number; command: string } | null> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const wanted = new Set(tables.flatMap((table) => listeningInodes(table, port)).map((inode) => `socket:[${inode}]`));
  if (wanted.size === 0) return null;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (!wanted.has(target)) continue;
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
      return { pid: Number(pid), command: command.slice(0, 200) };
    }
  }
  return null;
}

/** Throws MissingError, naming the holder, when a port that we need is taken. */
export async function requirePort(port: number, what: string, variable: string, other: string): Promise<void> {
  if (await portFree(port)) return;
  const holder = await portHolder(port);
  throw new MissingError({
    what: `Port ${port}, for ${what}, is taken.`,
    why: holder === null ? 'Another process listens on it.' : `Process ${holder.pid} listens on it: ${holder.command}`,
    command: `${variable}=${other} ./swarmline up`,
  });
}
