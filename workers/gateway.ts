/** The gateway of this host: no Temporal queue, a Unix socket for each attempt, counts in Postgres. */
import { once } from 'node:events';
import { Gauge } from 'prom-client';
import { startGateway } from '../gateway/index.ts';
import type { Caller, Ledger } from '../gateway/index.ts';
import { agentsDone, reserveCall, settleCall, settleLostCalls } from '../store/index.ts';
import type { RunningRole, WorkerContext } from './role.ts';
import { every } from './every.ts';
import { loadUpstreams } from './upstreams.ts';

/** A worker that was killed has not closed its attempts: their sockets go when the store says that they have ended. */
const SWEEP_MS = 60_000;

export async function startGatewayRole({ config, db, log, registry }: WorkerContext): Promise<RunningRole> {
  const upstreams = loadUpstreams(config.upstreamsFile, config.credentialsDir);
  const lost = await settleLostCalls(db, config.hostId);
  if (lost > 0) log.warn({ lost }, 'calls of a gateway that was killed are counted as reserved');
  const ledger: Ledger = {
    reserve: ({ id, caller, upstream, model, limits, estimate }) => {
      return reserveCall(db, {
        ...caller,
        ...limits,
        id,
        upstream,
        model,
        host: config.hostId,
        microusd: 0,
        tokens: estimate.inputTokens + estimate.outputTokens,
      });
    },
    async settle(id, { end, usage, ...result }) {
      await settleCall(db, id, { ...result, ...usage, state: end, microusd: 0 });
    },
  };
  const gateway = await startGateway({
    dir: config.gatewayDir,
    upstreams,
    ledger,
    mcp: null,
    log,
    onBudget: (run, why) => log.warn({ run, why }, 'a run has come to its budget'),
  });
  const sweep = async (): Promise<void> => {
    const callers = gateway.callers();
    const done = await agentsDone(db, callers);
    const isDone = (caller: Caller): boolean =>
      done.some(({ run, task, attempt }) => run === caller.run && task === caller.task && attempt === caller.attempt);
    for (const caller of callers.filter(isDone)) await gateway.close(caller);
  };
  await sweep();
  const timer = every(SWEEP_MS, sweep, log);
  new Gauge({
    name: 'swarmline_model_calls_waiting',
    help: 'Model calls that wait here, by what for',
    labelNames: ['refusal'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { refusal } of gateway.waiting()) this.inc({ refusal: refusal ?? 'ledger' });
    },
  });
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  return {
    workers: [],
    ended: once(stop.signal, 'abort').then(() => undefined),
    close: async () => {
      clearInterval(timer);
      await gateway.stop();
    },
  };
}
