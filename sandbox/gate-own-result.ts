/** The result of a step of ours, in the form of every other: a log that is kept, its end, names of what fails. */
import { writeFile } from 'node:fs/promises';
import type { GateStepName, GateStepResult } from '../spec/model.ts';
import { NAMES_KEPT, TAIL_BYTES } from './gate-judge.ts';
import type { GateOutput } from './gate.ts';
import type { Scratch } from './scratch.ts';

export async function ownResult(
  scratch: Pick<Scratch, 'outputFile'>,
  step: GateStepName,
  judged: {
    readonly log: string;
    readonly failures: readonly string[];
    readonly ok: boolean;
    readonly durationMs: number;
  },
): Promise<{ readonly result: GateStepResult; readonly output: GateOutput }> {
  const { log, failures, ok, durationMs } = judged;
  const name = `gate.${step}.log`;
  const file = scratch.outputFile(name);
  await writeFile(file, `${log}\n`);
  const result = {
    step,
    ok,
    end: 'exited',
    exitCode: 0, // no command ran
    durationMs,
    failures: ok ? [] : failures.slice(0, NAMES_KEPT),
    flaky: false,
    tail: Buffer.from(log).subarray(-TAIL_BYTES).toString('utf8'),
  } as const;
  return { result, output: { name, step, file } };
}
