/**
 * A green point measured by a suite that no agent sees: its commit in, a score in the store out.
 *
 * 1. The suite's files are laid over a checkout of this activity's own: they are objects of its scratch repository alone, which is gone
 *    when it ends. No tree of the hub, no agent's container, no prompt, log of an attempt or artifact ever holds them.
 * 2. Its container has no network and no gateway.
 * 3. It judges nothing: whatever comes of it is a score, or the reason why there is none.
 */
import { treeOf } from '../mainline/git.ts';
import { InfrastructureFault, ServiceFailed, SetupFailed, WorkspaceTooSmall } from '../sandbox/faults.ts';
import { readTail } from '../sandbox/gate-read.ts';
import { putFiles } from '../sandbox/overlay.ts';
import { openScratch } from '../sandbox/scratch.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { StepOutcome } from '../sandbox/types.ts';
import { scoreOf } from '../spec/evaluation.ts';
import type { Evaluate, Evaluation } from '../spec/evaluation.ts';
import { gateEnd } from '../spec/gate/ends.ts';
import { stripAnsi } from '../spec/gate/signature.ts';
import type { CompiledSpec } from '../spec/model.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { EvaluateInput } from './contract.ts';
import type { Running } from './running.ts';
import { setUp } from './set-up.ts';

/** End of the output in which the score is looked for, bytes. */
const SCORE_BYTES = 256 * 1024;
const TAIL_CHARS = 2_000;
const STEP_DIR = '/run/swarmline';

export async function evaluateGreenPoint(
  input: EvaluateInput,
  deps: AttemptDeps,
  running: Running,
): Promise<{ score: number | null }> {
  const { run, n, commit } = input;
  const known = (await deps.store.evaluations(run)).find((one) => one.n === n);
  if (known !== undefined) return { score: known.score };
  const spec = await deps.store.spec(run);
  if (spec.evaluate === null) throw new Error(`The spec of "${run}" has no policy.evaluate.`);
  const source = await deps.hub.ensure(run, [commit], running.signal);
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: [] });
  const started = deps.now();
  try {
    const measured = await measure(input, spec, spec.evaluate, scratch, deps, running);
    await deps.store.saveEvaluation(run, { n, commit, ms: deps.now() - started, ...measured });
    return { score: measured.score };
  } finally {
    await scratch.close();
  }
}

type Measured = Pick<Evaluation, 'ok' | 'score' | 'tail'>;

async function measure(
  { run, n, commit }: EvaluateInput,
  spec: CompiledSpec,
  evaluate: Evaluate,
  scratch: Scratch,
  deps: AttemptDeps,
  running: Running,
): Promise<Measured> {
  const outputFile = scratch.outputFile('evaluation.log');
  let outcome: StepOutcome;
  try {
    outcome = await runSuite({ run, n, commit, spec, evaluate, scratch, outputFile }, deps, running);
  } catch (error) {
    running.signal.throwIfAborted();
    const isFinding = [SetupFailed, WorkspaceTooSmall, ServiceFailed].some((kind) => error instanceof kind);
    if (!isFinding) throw error;
    return { ok: false, score: null, tail: `Could not be measured: ${(error as Error).message}` };
  }
  running.signal.throwIfAborted();
  const meaning = gateEnd(outcome.end, outcome.exitCode);
  if (meaning === 'infrastructure' || meaning === 'stopped')
    throw new InfrastructureFault(
      `The container of evaluation ${n} ended "${outcome.end}": it says nothing about the code.`,
    );
  const output = stripAnsi(await readTail(outputFile, SCORE_BYTES));
  const score = outcome.end === 'exited' ? scoreOf(output, evaluate.score) : null;
  const why = outcome.end === 'exited' && score === null ? '\n[swarmline: It printed no score.]' : '';
  return { ok: score !== null, score, tail: `${output.slice(-TAIL_CHARS)}${why}` };
}

async function runSuite(
  suite: EvaluateInput & {
    readonly spec: CompiledSpec;
    readonly evaluate: Evaluate;
    readonly scratch: Scratch;
    readonly outputFile: string;
  },
  deps: AttemptDeps,
  running: Running,
): Promise<StepOutcome> {
  const { run, n, commit, spec, evaluate, scratch, outputFile } = suite;
  const { limits, services } = spec.sandbox;
  running.report({ phase: 'image and set-up' });
  const image = await deps.resolveImage(spec.sandbox.image);
  const key = { run, task: null, attempt: 0, kind: 'verify' as const, step: `evaluation-${n}` };
  const setup = await setUp(commit, { key, spec, scratch, image }, deps, running);
  const script = await scratch.inputDir({ 'step.sh': `${evaluate.run}\n` });
  const tree = await putFiles(scratch.gitDir, await treeOf(scratch.gitDir, commit), evaluate.files);
  const workspace = await deps.openWorkspace({
    gitDir: scratch.gitDir,
    treeish: tree,
    diskBytes: limits.diskBytes,
    name: `${run}-${key.step}`,
  });
  try {
    const beside = await deps.startServices({ services, key, limits, signal: running.signal });
    try {
      return await deps.sandbox.runStep(
        {
          key,
          image,
          argv: ['/bin/sh', `${STEP_DIR}/step.sh`],
          env: setup.env,
          workspace: { dir: workspace.dir, readOnly: false },
          mounts: [...setup.mounts, { source: script, target: STEP_DIR, readOnly: true }],
          stdinFile: null,
          limits,
          deadlineMs: evaluate.timeMs,
          network: beside.network,
          outputFile,
        },
        { signal: running.signal, onProgress: (progress) => running.report({ phase: key.step, ...progress }) },
      );
    } finally {
      await beside.close();
    }
  } finally {
    await workspace.close();
  }
}
