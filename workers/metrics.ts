/** `/metrics` (the SDK's own and ours, Prometheus text format) and `/healthz` of a worker. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { runGauges } from '../store/index.ts';
import type { Db } from '../store/index.ts';

export interface Metrics {
  close(): Promise<void>;
}

/** A port that was free a moment ago: the SDK's exporter cannot be asked which one it took. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** @param healthy whether the worker polls. @param refresh brings the registry's figures up to date. */
export async function serveMetrics(
  at: { host: string; port: number; sdkPort: number },
  registry: Registry,
  refresh: () => Promise<void>,
  healthy: () => boolean,
): Promise<Metrics> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url === '/healthz') {
        response.writeHead(healthy() ? 200 : 503).end(healthy() ? 'ok\n' : 'not polling\n');
      } else if (request.url === '/metrics') {
        await refresh();
        const sdk = await fetch(`http://127.0.0.1:${at.sdkPort}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        );
        response.writeHead(200, { 'content-type': registry.contentType }).end(`${await registry.metrics()}\n${sdk}`);
      } else response.writeHead(404).end();
    })().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return {
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Gauges over every open run; the function it returns reads the store and must be awaited before the registry is read. */
export function addRunGauges(registry: Registry, db: Db): () => Promise<void> {
  const labelled = { registers: [registry] };
  const tasks = new Gauge({
    name: 'swarmline_tasks',
    help: 'Tasks of open runs by state',
    labelNames: ['run', 'state'],
    ...labelled,
  });
  const attempts = new Gauge({
    name: 'swarmline_attempts',
    help: 'Ended attempts by outcome',
    labelNames: ['run', 'outcome'],
    ...labelled,
  });
  const plain = (name: string, help: string): Gauge<'run'> =>
    new Gauge({ name, help, labelNames: ['run'], ...labelled });
  const running = plain('swarmline_attempts_running', 'Attempts that have not ended');
  const queue = plain('swarmline_merge_queue_length', 'Merge requests that wait');
  const oldest = plain('swarmline_merge_queue_oldest_seconds', 'Age of the oldest merge request that waits');
  const unverified = plain('swarmline_unverified_commits', 'Merged and not yet verified');
  const lag = plain('swarmline_verification_lag_seconds', 'Age of the oldest merge that is not yet verified');
  const green = plain('swarmline_green_points', 'Green points');
  const open = new Gauge({ name: 'swarmline_runs_open', help: 'Runs that have not ended', ...labelled });
  return async () => {
    const runs = await runGauges(db);
    for (const gauge of [tasks, attempts, running, queue, oldest, unverified, lag, green]) gauge.reset();
    open.set(runs.length);
    for (const { run, ...figures } of runs) {
      for (const [state, count] of Object.entries(figures.tasks)) tasks.set({ run, state }, count);
      for (const [outcome, count] of Object.entries(figures.attempts)) attempts.set({ run, outcome }, count);
      running.set({ run }, figures.runningAttempts);
      queue.set({ run }, figures.queueLength);
      oldest.set({ run }, figures.queueOldestMs / 1000);
      unverified.set({ run }, figures.unverified);
      lag.set({ run }, figures.verificationLagMs / 1000);
      green.set({ run }, figures.greenPoints);
    }
  };
}
