/**
 * The proof that the gate can fail: a fault planted in one file at a time, each in a tree and checkouts of its own, must turn a step red.
 * A gate that cannot fail looks exactly like a gate that is green.
 *
 * 1. The narrow steps first (`mainline`, with the file as `{changed}`), then those whole ones (`wave`) that differ from them.
 * 2. Bounded in time: what could not be tried in time is left out, not guessed.
 */
import { readFileAt } from '../mainline/git.ts';
import { plantFault } from '../spec/gate/faults.ts';
import { planGate } from '../spec/gate/plan.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import type { CompiledSpec, GateStepName } from '../spec/model.ts';
import { runGateSteps } from './gate.ts';
import type { GateJob, GatePorts } from './gate-ports.ts';
import { putFiles } from './overlay.ts';

export interface PlantedFault {
  readonly path: string;
  /** null: no step noticed. */
  readonly redStep: GateStepName | null;
  readonly what: string;
}

/** A file of more bytes is data, and is not planted in. */
const MAX_BYTES = 1024 * 1024;

export interface ProofRequest {
  /** What is the same for all faults; `tree` is the tree without a fault. */
  readonly job: Omit<GateJob, 'changed' | 'prefix' | 'stopAtRed' | 'rerunRed' | 'baseline'>;
  readonly gate: CompiledSpec['gate'];
  readonly paths: readonly string[];
  /** Milliseconds since some fixed moment. */
  readonly now: () => number;
  /** No new fault is planted after this, on the same clock. */
  readonly deadlineMs: number;
  readonly onPlant?: ((path: string, nth: number) => void) | undefined;
}

export async function provePaths(request: ProofRequest, ports: GatePorts): Promise<PlantedFault[]> {
  const { job, gate, paths } = request;
  const narrow = withoutCoverage(planGate(gate, 'mainline'));
  const whole = withoutCoverage(planGate(gate, 'wave')).filter(
    (step) => !narrow.some((other) => other.name === step.name && other.command === step.command),
  );
  const planted: PlantedFault[] = [];
  for (const [at, path] of paths.entries()) {
    if (request.now() >= request.deadlineMs) break;
    const content = await readFileAt(job.scratch.gitDir, job.tree, path);
    if (content === null || content.length > MAX_BYTES) continue;
    request.onPlant?.(path, at + 1);
    const fault = plantFault(path, content.toString('utf8'));
    const tree = await putFiles(job.scratch.gitDir, job.tree, { [path]: fault.text });
    const faulty: GateJob = {
      ...job,
      tree,
      changed: [path],
      prefix: `proof-${at + 1}`,
      stopAtRed: true,
      rerunRed: false,
      baseline: null,
    };
    const red =
      (await runGateSteps(faulty, ports, narrow)).red ??
      (await runGateSteps({ ...faulty, prefix: `proof-${at + 1}w` }, ports, whole)).red;
    planted.push({ path, redStep: red?.step ?? null, what: fault.what });
  }
  return planted;
}

/** The coverage rule judges changes, and there is none: a fault is no uncovered line. */
const withoutCoverage = (plan: readonly PlannedStep[]): PlannedStep[] => plan.filter((step) => step.coverage === null);
