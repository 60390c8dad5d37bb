/** Memory and CPU of processes, from /proc (Linux only: elsewhere nothing is known and the figures are null). */
import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks a second: USER_HZ is 100 on every Linux that Node runs on. */
const TICKS = 100;

export interface Usage {
  /** Resident now. */
  readonly rssBytes: number;
  /** User and system time, of ended children too. */
  readonly cpuSeconds: number;
}

interface Stat {
  readonly parent: number;
  readonly usage: Usage;
}

async function statOf(pid: number): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number); // from the third of proc(5)
  const ticks = fields[11]! + fields[12]! + fields[13]! + fields[14]!;
  return { parent: fields[1]!, usage: { rssBytes: fields[21]! * 4096, cpuSeconds: ticks / TICKS } };
}

/** One process alone; null: it is not there. */
export async function usageOf(pid: number): Promise<Usage | null> {
  return (await statOf(pid))?.usage ?? null;
}

/** CPU seconds of a process and all that live below it. */
export async function cpuOfTree(root: number): Promise<number> {
  const names = await readdir('/proc').catch(() => []);
  const stats = new Map<number, Stat>();
  for (const name of names.filter((one) => /^\d+$/.test(one))) {
    const stat = await statOf(Number(name));
    if (stat !== null) stats.set(Number(name), stat);
  }
  let seconds = 0;
  for (const [pid, { usage }] of stats) {
    let at = pid;
    for (let depth = 0; at !== root && depth < 20 && stats.has(at); depth += 1) at = stats.get(at)!.parent;
    if (at === root) seconds += usage.cpuSeconds;
  }
  return seconds;
}
