/** DESIGN.md invariant 4 on the whole system; `npm run chaos` has every process and random instants. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { crashRun } from '../chaos/crash-run.ts';
import type { Strike } from '../chaos/crash-run.ts';
import { rollFrom } from '../chaos/dice.ts';
import { openSystem } from '../chaos/system.ts';
import type { System } from '../chaos/system.ts';
import { faultsOf } from '../chaos/verdict.ts';
import { makeWorkload } from '../chaos/workload.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ ownEngine: false });
}, 180_000);
afterAll(() => system.close(), 120_000);

/** Budget of DESIGN.md section 8: 15 s. Three times that where the machine is shared. */
const RESUMED_MS = 45_000;

const STRIKES: readonly Strike[] = [
  { victims: ['sandbox', 'mainline', 'orchestrator'], afterPassed: 3, thenMs: 0, whileAgents: true, downMs: 0 },
  { victims: ['temporal', 'postgres'], afterPassed: 12, thenMs: 0, whileAgents: true, downMs: 1_000 },
];

test('kill -9 of every worker, then of Temporal and Postgres, in a run of 21 tasks: all land once, nothing finished runs again, nothing is left', async () => {
  const dice = rollFrom(7);
  const workload = await makeWorkload({ dir: join(system.dir, 'origin'), waves: 3, lines: 7, workMs: 1_500, dice });
  const said: string[] = [];
  const crashed = await crashRun(system, workload, 'crash', STRIKES, (line) => said.push(line));
  process.stderr.write(`${said.join('\n')}\n`);
  expect(crashed.struck).toHaveLength(STRIKES.length);
  expect(await faultsOf(system, workload, crashed)).toEqual([]);
  for (const { progressMs } of crashed.struck) expect(progressMs).toBeLessThan(RESUMED_MS);
}, 600_000);
