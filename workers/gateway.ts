/** The gateway of this host: no Temporal queue, a Unix socket for each attempt, counts in Postgres. */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, WorkflowNotFoundError } from '@temporalio/client';
import { Gauge } from 'prom-client';
import { createMcp, startGateway } from '../gateway/index.ts';
import type { Caller, Ledger, ToolPort } from '../gateway/index.ts';
import { readFileAt } from '../mainline/git.ts';
import { createHubClient } from '../mainline/hub-client.ts';
import { signaturesOf } from '../spec/prompt/index.ts';
import { costOf, DEFAULT_PRICES, priceOf } from '../spec/prices.ts';
import { agentsDone, reserveCall, settleCall, settleLostCalls } from '../store/index.ts';
import type { RunningRole, WorkerContext } from './role.ts';
import { budgetReached, scopeRequested } from '../workflows/protocol.ts';
import type { ScopeRequested } from '../workflows/protocol.ts';
import { every } from './every.ts';
import { storeTools } from './tools.ts';
import { loadPrices, loadUpstreams } from './upstreams.ts';
import { tellWaiting } from './waiting-calls.ts';

/** A worker that was killed has not closed its attempts: their sockets go when the store says that they have ended. */
const SWEEP_MS = 60_000;
const TELL_AGAIN_MS = 5_000;
/** Its tokens are counted all the same; a run with a budget in money never gets as far (spec/budget.ts). */
const UNPRICED = { input: 0, cached: 0, cacheWrite: 0, output: 0 };

export async function startGatewayRole({ config, db, log, registry, temporal }: WorkerContext): Promise<RunningRole> {
  const upstreams = loadUpstreams(config.upstreamsFile, config.credentialsDir);
  const prices = [loadPrices(config.pricesFile), DEFAULT_PRICES];
  const lost = await settleLostCalls(db, config.hostId);
  if (lost > 0) log.warn({ lost }, 'calls of a gateway that was killed are counted as reserved');
  const hub = createHubClient({
    url: config.hubUrl,
    token: config.hubToken,
    mirrorRoot: join(config.stateDir, 'sandbox', 'mirrors'), // the sandbox worker's: one mirror a host
    localRoot: config.localHubRoot,
  });
  const readInterface: ToolPort['readInterface'] = async ({ run }, path) => {
    const commit = await hub.resolve(run, 'verified');
    const content = await readFileAt(await hub.ensure(run, [commit]), commit, path);
    return content === null ? null : signaturesOf(path, content.toString('utf8'));
  };
  const client = new Client({ connection: temporal.connection, namespace: temporal.namespace });
  /** Until the run knows it, or has ended: its callers wait, and nobody else would pause it. */
  const tell = async (run: string, why: string): Promise<void> => {
    for (;;) {
      try {
        await client.workflow.getHandle(run).signal(budgetReached, { why });
        return;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return;
        log.warn({ run, error: String(error) }, 'the run cannot be told that its budget is spent; trying again');
        await delay(TELL_AGAIN_MS);
      }
    }
  };
  /** A run that has ended has nobody to ask: the request stays open. */
  const askRun = async ({ run, task }: Caller, asked: Omit<ScopeRequested, 'task'>): Promise<void> => {
    await client.workflow
      .getHandle(run)
      .signal(scopeRequested, { ...asked, task })
      .catch((error: unknown) =>
        log.warn({ run, task, error: String(error) }, 'the run was not told of a request for more files'),
      );
  };
  const ledger: Ledger = {
    async reserve({ id, caller, upstream, model, limits, estimate }) {
      const price = priceOf(model, prices);
      return reserveCall(db, {
        ...caller,
        ...limits,
        id,
        upstream,
        model,
        host: config.hostId,
        microusd: price === null ? null : costOf(estimate, price),
        tokens: estimate.inputTokens + estimate.outputTokens,
      });
    },
    async settle(call, { end, usage, ...result }) {
      const price = priceOf(call.model, prices) ?? UNPRICED;
      await settleCall(db, call.id, { ...result, ...usage, state: end, microusd: costOf(usage, price) });
    },
  };
  const gateway = await startGateway({
    dir: config.gatewayDir,
    upstreams,
    ledger,
    mcp: createMcp(storeTools(db, readInterface, askRun), log),
    log,
    onBudget: (run, why) => {
      log.warn({ run, why }, 'a run has come to its budget');
      tell(run, why).catch((error: unknown) => log.error({ run, error: String(error) }, 'the run was not told'));
    },
  });
  const sweep = async (): Promise<void> => {
    for (const caller of await agentsDone(db, gateway.callers())) await gateway.close(caller);
  };
  await sweep();
  const timers = [every(SWEEP_MS, sweep, log), tellWaiting({ db, log, config }, () => gateway.waiting())];
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
      for (const timer of timers) clearInterval(timer);
      await gateway.stop();
    },
  };
}
