/**
 * The mutation check: faults on lines that a task changed, one at a time, each in a tree and a checkout of its own, must turn the test step
 * red. Tests that stay green with a fault in what they are about would have stayed green whatever the task had done.
 *
 * 1. Only the test step runs, as it ran for the task: with its changed files, its narrowing, its recorded baseline.
 * 2. Bounded in time and number: what could not be tried in time is counted, not guessed. A fault that keeps the tests running ten times as
 *    long as without it counts as noticed.
 */
import { diffTrees, readBlobs } from '../mainline/git.ts';
import { isPlantable, lineFaults } from '../spec/gate/mutations.ts';
import type { LineFault } from '../spec/gate/mutations.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import { changedLines, isFileMode } from './gate-changes.ts';
import { runGateSteps } from './gate.ts';
import type { GateJob, GatePorts } from './gate-ports.ts';
import { putFiles } from './overlay.ts';

/** How much longer than the green run a faulty one may take, and the least that it is given. */
const PATIENCE = 10;
const LEAST_MS = 30_000;
/** With less time left no container is started. */
const WORTH_MS = 1_000;
/** A larger file is generated. */
const FILE_BYTES = 512 * 1024;

export interface MutationRequest {
  /** As the test step of the task was run. */
  readonly job: GateJob;
  readonly step: PlannedStep;
  readonly faults: readonly LineFault[];
  /** How long the step took without a fault. */
  readonly greenMs: number;
  /** Milliseconds since some fixed moment, and on the same clock when no further fault is planted. */
  readonly now: () => number;
  readonly deadlineMs: number;
  readonly onPlant?: ((fault: LineFault, nth: number) => void) | undefined;
}

export interface MutationVerdict {
  readonly unnoticed: readonly LineFault[];
  readonly noticed: number;
  /** Not tried, for want of time. */
  readonly left: number;
}

/** Faults for what a change made of `base`, in the tree that is judged. */
export async function faultsFor(
  gitDir: string,
  base: string,
  tree: string,
  leaveOut: (path: string) => boolean,
  limit: number,
): Promise<LineFault[]> {
  const changes = (await diffTrees(gitDir, base, tree)).filter(
    ({ path, newMode, size, validUtf8 }) =>
      validUtf8 && isFileMode(newMode) && (size ?? Infinity) <= FILE_BYTES && isPlantable(path) && !leaveOut(path),
  );
  if (changes.length === 0) return [];
  const paths = new Set(changes.map(({ path }) => path));
  const lines = await changedLines(gitDir, base, tree, (path) => paths.has(path));
  const texts = await readBlobs(
    gitDir,
    changes.map(({ newOid }) => newOid!),
  );
  const files = changes.flatMap(({ path, newOid }) => {
    const text = texts.get(newOid!);
    return text === undefined || text.includes(0)
      ? []
      : [{ path, text: text.toString('utf8'), lines: lines.get(path) ?? [] }];
  });
  return lineFaults(files, limit);
}

export async function checkMutations(request: MutationRequest, ports: GatePorts): Promise<MutationVerdict> {
  const { job, step, faults, greenMs, now, deadlineMs } = request;
  const enough = Math.min(job.limits.stepMs, Math.max(LEAST_MS, greenMs * PATIENCE));
  const unnoticed: LineFault[] = [];
  let noticed = 0;
  for (const [at, fault] of faults.entries()) {
    const leftMs = deadlineMs - now();
    if (leftMs < WORTH_MS) break;
    request.onPlant?.(fault, at + 1);
    const stepMs = Math.min(enough, leftMs);
    const faulty: GateJob = {
      ...job,
      tree: await putFiles(job.scratch.gitDir, job.tree, { [fault.path]: fault.text }),
      prefix: `${job.prefix}-fault-${at + 1}`,
      limits: { ...job.limits, stepMs },
      stopAtRed: true,
      rerunRed: false,
    };
    const { red } = await runGateSteps(faulty, ports, [step]);
    if (red?.cause === 'gate-timeout' && stepMs < enough) break; // our time was over, not the step's
    if (red === null) unnoticed.push(fault);
    else noticed++;
  }
  return { unnoticed, noticed, left: faults.length - noticed - unnoticed.length };
}

/** For the agent, reviewers and people. */
export function mutationLog({ unnoticed, noticed, left }: MutationVerdict): string {
  const tried = noticed + unnoticed.length;
  const late = left === 0 ? '' : ` ${left} more were not tried: the time was over.`;
  const sum = `${noticed} of ${tried} faults planted on changed lines were noticed by the step "test".${late}`;
  if (unnoticed.length === 0) return sum;
  return [
    ...unnoticed.map(({ path, line, what }) => `${path}:${line}: ${UNNOTICED}${what}`),
    '',
    sum,
    'Each line above is a fault that was planted alone, in code that this change made, and with it the tests stayed green. Add or sharpen tests so that each turns one red, or drop code that nothing depends on.',
  ].join('\n');
}

/** Artifact of the attempt. */
export const MUTATION_LOG = 'gate.mutation.log';
const UNNOTICED = 'error: not noticed: ';
/** The lines of such a log that name a fault. */
export const unnoticedLines = (log: string): string[] =>
  log.split('\n').filter((line) => line.includes(`: ${UNNOTICED}`));
