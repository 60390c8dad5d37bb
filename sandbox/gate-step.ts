/**
 * One gate step: a fresh checkout, a fresh container.
 *
 * 1. What is read from the workspace is read after the container is gone, without following links.
 * 2. A step that asks for changed files when there are none is green: there is nothing for it to look at.
 */
import { withChanged } from '../spec/gate/changed.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import { parseReport } from '../spec/gate/report.ts';
import type { TestReport } from '../spec/gate/report.ts';
import { judgeStep, nothingToRun } from './gate-judge.ts';
import type { StepRun } from './gate-judge.ts';
import type { GateJob, GatePorts } from './gate-ports.ts';
import { readWorkspaceFile } from './gate-read.ts';
import type { StepOutcome, StepProgress } from './types.ts';

/** Where the step's command lies in the container: a file, because one argument of a process is limited to 128 KiB and `{changed}` is not. */
const STEP_DIR = '/run/swarmline';
/** @param lcovPath coverage file to keep for the next step, null for none */
export async function runGateStep(
  job: GateJob,
  ports: GatePorts,
  step: PlannedStep,
  run: {
    readonly name: string;
    readonly lcovPath: string | null;
    readonly onProgress?: ((progress: StepProgress) => void) | undefined;
  },
): Promise<StepRun> {
  const command = withChanged(step.command ?? ':', job.changed);
  if (command === null) return nothingToRun(step, 'No file that changed is there for this step to look at.\n');
  const outputFile = job.scratch.outputFile(`${run.name}.log`);
  const script = await job.scratch.inputDir({ 'step.sh': `${command}\n` });
  const key = { ...job.key, step: `${job.prefix}:${run.name}` };
  const workspace = await ports.openWorkspace({
    gitDir: job.scratch.gitDir,
    treeish: job.tree,
    diskBytes: job.limits.diskBytes,
    name: `${job.key.run}-${job.key.task ?? 'run'}-${job.key.attempt}-${run.name}`,
  });
  try {
    const services = await ports.startServices({ services: job.services, key, limits: job.limits, signal: job.signal });
    let outcome: StepOutcome;
    try {
      outcome = await ports.sandbox.runStep(
        {
          key,
          image: job.image,
          argv: ['/bin/sh', `${STEP_DIR}/step.sh`],
          env: job.env,
          workspace: { dir: workspace.dir, readOnly: false },
          mounts: [...job.mounts, { source: script, target: STEP_DIR, readOnly: true }],
          stdinFile: null,
          limits: job.limits,
          deadlineMs: job.limits.stepMs,
          network: services.network,
          outputFile,
        },
        { signal: job.signal, onProgress: run.onProgress },
      );
    } finally {
      await services.close();
    }
    job.signal.throwIfAborted();
    const report = await readReport(workspace.dir, step.report);
    const lcov = run.lcovPath === null ? null : await readText(workspace.dir, run.lcovPath);
    return await judgeStep(job, step, outcome, { outputFile, report, lcov });
  } finally {
    await workspace.close();
  }
}

async function readReport(dir: string, path: string | null): Promise<TestReport | null> {
  const text = path === null ? null : await readText(dir, path);
  return text === null ? null : parseReport(text);
}

async function readText(dir: string, path: string): Promise<string | null> {
  const file = await readWorkspaceFile(dir, path);
  return 'text' in file ? file.text : null;
}
