/**
 * A run that is struck while it works: what is killed when, how long it stays down, and how long after `up` it took to go on.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dice } from './dice.ts';
import type { System, Victim } from './system.ts';
import { openWitness } from './witness.ts';
import type { Witness } from './witness.ts';
import type { Workload } from './workload.ts';

export interface Strike {
  readonly victims: readonly Victim[];
  /** After so many tasks have passed (and the run still goes on) … */
  readonly afterPassed: number;
  /** … and so many more milliseconds … */
  readonly thenMs: number;
  /** … while at least one agent is at work, where that matters. */
  readonly whileAgents?: boolean;
  /** Milliseconds between the kill and `up`. */
  readonly downMs: number;
}

export interface Struck extends Strike {
  readonly atMs: number;
  /** Tasks that had passed. */
  readonly passed: number;
  /** Attempts whose agent was running then, without a recorded result. */
  readonly interrupted: readonly string[];
  /** How long `up` took. */
  readonly upMs: number;
  /** From the return of `up` until a container was started or a result recorded. */
  readonly progressMs: number;
  /** From the return of `up` until every interrupted agent ran again, or turned out to be finished. */
  readonly repeatedMs: number;
  /** From the return of `up` until the next task passed. */
  readonly landedMs: number;
}

export interface CrashRun {
  readonly run: string;
  readonly struck: readonly Struck[];
  readonly witness: Witness;
  readonly tookMs: number;
}

/** Until the next sign of life, and for the whole run. Generous: what is measured is printed, not asserted here. */
const PATIENCE_MS = 180_000;
const RUN_MS = 900_000;

export async function crashRun(
  system: System,
  workload: Workload,
  run: string,
  strikes: readonly Strike[],
  say: (line: string) => void = () => undefined,
): Promise<CrashRun> {
  const file = join(system.dir, `${run}.json`);
  await writeFile(file, JSON.stringify(workload.spec));
  const witness = openWitness(system, run);
  const startedMs = Date.now();
  try {
    const { code, out, err } = await system.swarmline('run', file, '--id', run);
    if (code !== 0) throw new Error(`swarmline run exited ${code}:\n${out}${err}`);
    const struck: Struck[] = [];
    for (const strike of strikes) {
      const goesOn = await witness.when(
        `${strike.afterPassed} tasks have passed`,
        ({ passed, outcome }) => (outcome !== null ? 'over' : passed >= strike.afterPassed ? 'now' : null),
        RUN_MS,
      );
      await new Promise((resolve) => setTimeout(resolve, strike.thenMs));
      if (strike.whileAgents === true) {
        await witness.when(
          'an agent works',
          ({ outcome }) => outcome !== null || witness.agentsAtWork().length > 0,
          RUN_MS,
        );
      }
      if (goesOn === 'over' || witness.seen.outcome !== null) {
        say(`the run was over before ${strike.victims.join('+')} could be killed`);
        break;
      }
      struck.push(await hit(system, witness, strike));
      say(described(struck.at(-1)!));
    }
    await witness.when('the run ends', ({ outcome }) => outcome, RUN_MS);
    return { run, struck, witness, tookMs: Date.now() - startedMs };
  } finally {
    witness.close();
  }
}

async function hit(system: System, witness: Witness, strike: Strike): Promise<Struck> {
  const atMs = Date.now();
  const interrupted = witness.agentsAtWork();
  await system.kill(strike.victims);
  const { passed } = witness.seen;
  await new Promise((resolve) => setTimeout(resolve, strike.downMs));
  const upMs = await system.up();
  const upAtMs = Date.now();
  const before = witness.seen.print;
  const since = (now = Date.now()): number => Math.max(0, Math.round(now - upAtMs));
  const started = (of?: string): boolean =>
    witness.starts.some(
      ({ atMs: at, attempt, kind }) => at > atMs && (of === undefined || (kind === 'agent' && attempt === of)),
    );
  const startedSinceUp = (): boolean => witness.starts.some(({ atMs: at }) => at > upAtMs);

  await witness.when('work goes on', ({ print }) => print !== before || startedSinceUp(), PATIENCE_MS);
  const progressMs = since();
  await witness.when(
    `${interrupted.join(', ')} run again`,
    ({ outcome }) =>
      outcome !== null || interrupted.every((attempt) => started(attempt) || witness.agentDone.has(attempt)),
    PATIENCE_MS,
  );
  const repeatedMs = since();
  await witness.when('the next task passes', (seen) => seen.outcome !== null || seen.passed > passed, PATIENCE_MS);
  return { ...strike, atMs, passed, interrupted, upMs, progressMs, repeatedMs, landedMs: since() };
}

export const described = (struck: Struck): string =>
  `kill -9 ${struck.victims.join('+')} when ${struck.passed} had passed, ${struck.interrupted.length} agents interrupted, down ${struck.downMs} ms, ` +
  `up took ${struck.upMs} ms; then work after ${struck.progressMs} ms, all interrupted again after ${struck.repeatedMs} ms, next landed after ${struck.landedMs} ms`;

/** `times` strikes at random instants, spread over the run. */
export function randomStrikes(dice: Dice, victims: () => readonly Victim[], times: number, tasks: number): Strike[] {
  const share = Math.floor((tasks * 0.85) / times);
  return Array.from({ length: times }, (_, at) => ({
    victims: victims(),
    afterPassed: at * share + dice.below(share),
    thenMs: dice.below(2_500),
    whileAgents: dice.below(2) === 0,
    downMs: dice.pick([0, 0, 500, 3_000, 8_000]),
  }));
}
