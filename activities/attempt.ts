/** Activities of the queue `swarmline-sandbox`, for any host: agent runs, gates, and the proof that a gate can fail. */
import { treeOf } from '../mainline/git.ts';
import { listFiles } from '../mainline/tree.ts';
import { provePaths } from '../sandbox/gate-proof.ts';
import { openScratch } from '../sandbox/scratch.ts';
import { sampleFiles } from '../spec/gate/faults.ts';
import { anyGlob } from '../spec/globs.ts';
import { mayWrite } from '../spec/scope.ts';
import { agentRun } from './agent-run.ts';
import { askPlanner } from './ask-planner.ts';
import { askReconciler } from './ask-reconciler.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { AttemptActivities } from './contract.ts';
import { evaluateGreenPoint } from './evaluate.ts';
import { gateRun } from './gate-run.ts';
import { mergerRun } from './merger-run.ts';
import { runReview } from './review.ts';
import { createRunning } from './running.ts';
import type { Running } from './running.ts';
import { setUp } from './set-up.ts';

/** No new fault is planted after this long. */
const PROOF_MS = 15 * 60_000;

export function createAttemptActivities(deps: AttemptDeps): AttemptActivities {
  const running = createRunning();
  const key = (name: string, input: object): string => JSON.stringify([name, input]);
  return {
    runAgent: (input) => running(key('runAgent', input), (now) => agentRun(input, deps, now)),
    askPlanner: (input) => running(key('askPlanner', input), (now) => askPlanner(input, deps, now)),
    askReconciler: (input) => running(key('askReconciler', input), (now) => askReconciler(input, deps, now)),
    evaluate: (input) => running(key('evaluate', input), (now) => evaluateGreenPoint(input, deps, now)),
    runGate: (input) => running(key('runGate', input), (now) => gateRun(input, deps, now)),
    runMerge: (input) => running(key('runMerge', input), (now) => mergerRun(input, deps, now)),
    runReview: (input) => running(key('runReview', input), (now) => runReview(input, deps, now)),
    proveGate: (input) => running(key('proveGate', input), (now) => proof(input, deps, now)),
  };
}

async function proof(
  input: { run: string; commit: string; sample: number },
  deps: AttemptDeps,
  now: Running,
): ReturnType<AttemptActivities['proveGate']> {
  const spec = await deps.store.spec(input.run);
  const tasks = await deps.store.tasks(input.run);
  const source = await deps.hub.ensure(input.run, [input.commit], now.signal);
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: spec.repository.union });
  try {
    const isProtected = anyGlob(spec.repository.protected);
    const files = await listFiles(scratch.gitDir, input.commit);
    const writable = files.filter((path) => !isProtected(path) && tasks.some((task) => mayWrite(task, path)));
    const image = await deps.resolveImage(spec.sandbox.image);
    const key = { run: input.run, task: null, attempt: 0 };
    const setup = await setUp(input.commit, { key, spec, scratch, image }, deps, now);
    const started = deps.now();
    const planted = await provePaths(
      {
        job: {
          key: { ...key, kind: 'proof' },
          scratch,
          tree: await treeOf(scratch.gitDir, input.commit),
          image,
          mounts: setup.mounts,
          env: setup.env,
          services: spec.sandbox.services,
          limits: spec.sandbox.limits,
          changedLines: async () => new Map(),
          signal: now.signal,
        },
        gate: spec.gate,
        paths: sampleFiles(writable, input.sample),
        now: deps.now,
        deadlineMs: started + PROOF_MS,
        onPlant: (path, nth) => now.report({ phase: 'proof', path, nth, of: input.sample }),
      },
      deps,
    );
    return { planted: planted.map(({ path, redStep }) => ({ path, redStep })) };
  } finally {
    await scratch.close();
  }
}
