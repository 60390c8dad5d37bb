/**
 * Agents and gates that only wait: what they tell the store and the hub is what the real activities tell, but the commit was made
 * before the run began, so that what is measured is coordination and not git on a sandbox host.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AttemptStore } from '../activities/attempt-ports.ts';
import type { AttemptActivities } from '../activities/contract.ts';
import { createRunning } from '../activities/running.ts';
import { gitText } from '../mainline/git.ts';
import type { HubClient } from '../mainline/hub-client.ts';
import type { AgentResult, GateResult } from '../spec/model.ts';

export interface WaitingDeps {
  readonly store: AttemptStore;
  readonly hub: HubClient;
  /** Repository that holds a commit on `refs/heads/bench/<task>` for every task. */
  readonly origin: string;
  /** The agent's work. */
  readonly wait: (task: string, signal: AbortSignal) => Promise<void>;
}

export async function createWaitingActivities({ store, hub, origin, wait }: WaitingDeps): Promise<AttemptActivities> {
  const refs = await gitText(origin, [
    'for-each-ref',
    '--format=%(refname:lstrip=3) %(objectname)',
    'refs/heads/bench',
  ]);
  const commits = new Map(refs.split('\n').map((line) => line.split(' ') as [string, string]));
  const base = await gitText(origin, ['rev-parse', 'refs/heads/main']);
  const running = createRunning();
  return {
    runAgent: (input) =>
      running(JSON.stringify(['runAgent', input]), async ({ signal }): Promise<AgentResult> => {
        const { run, task, attempt, round, startFrom } = input;
        const key = { run, task, attempt };
        const commit = commits.get(task);
        if (commit === undefined) throw new Error(`There is no commit for ${task}`);
        await store.agentResult(key);
        await hub.find(key, signal);
        await Promise.all([store.spec(run), store.task(run, task)]);
        const gitDir = await hub.ensure(run, [await hub.resolve(run, startFrom, signal)], signal);
        await store.startAttempt(key, { round, host: 'bench', base });
        const startedAt = Date.now();
        await wait(task, signal);
        const ms = Date.now() - startedAt;
        await hub.submit(key, { gitDir, objectDir: join(origin, 'objects'), commit, base }, signal);
        await store.markAttempt(key, { phase: 'agent', agentStartedAtMs: startedAt, queuedMs: 0 });
        return store.recordAgent(key, { ok: true, commit, base, changed: 1 }, ms);
      }),
    askReconciler: () => Promise.resolve(),
    askPlanner: () => Promise.reject(new Error('nobody plans in this bench')),
    runMerge: () => Promise.reject(new Error('nobody merges in this bench')),
    runReview: async () => ({ verdict: 'approve' }),
    evaluate: () => Promise.reject(new Error('nothing is measured in this bench')),
    runGate: (input) =>
      running(JSON.stringify(['runGate', input]), async ({ signal }): Promise<GateResult> => {
        const { run, task, attempt, level, commit, onto } = input;
        await store.spec(run);
        if (task !== null) await store.task(run, task);
        if (onto !== null) await hub.resolve(run, onto, signal);
        await store.gateResult(run, input.key, level, commit);
        const key = task === null || attempt === null ? null : { run, task, attempt };
        if (key !== null) await store.markAttempt(key, { phase: 'gate' });
        const tree = createHash('sha1').update(commit).digest('hex'); // nobody looks at it again
        const result: GateResult = { outcome: 'green', steps: [], commit };
        await store.saveGateResult({ run, key: input.key, level, commit, tree }, result, { waived: [], artifacts: {} });
        if (key !== null) await store.markAttempt(key, { phase: 'merge', gateMs: 0 });
        return result;
      }),
    proveGate: async () => ({ planted: [] }),
  };
}
