/** Entry point of every worker process: `node dist/workers/main.js orchestrator|mainline|sandbox|gateway`. */
import pino from 'pino';
import { Registry } from 'prom-client';
import { connect, migrate } from '../store/index.ts';
import { ConfigError, loadWorkerConfig, WORKER_ROLES } from './config.ts';
import type { WorkerRole } from './config.ts';
import { startGatewayRole } from './gateway.ts';
import { startMainline } from './mainline.ts';
import { addRunGauges, freePort, serveMetrics } from './metrics.ts';
import { startOrchestrator } from './orchestrator.ts';
import { startSandbox } from './sandbox.ts';
import { connectTemporal, installRuntime } from './temporal.ts';
import type { RunningRole, WorkerContext } from './role.ts';

const ROLES: Readonly<Record<WorkerRole, (context: WorkerContext) => Promise<RunningRole>>> = {
  orchestrator: startOrchestrator,
  mainline: startMainline,
  sandbox: startSandbox,
  gateway: startGatewayRole,
};

async function main(name: string | undefined): Promise<number> {
  const role = WORKER_ROLES.find((known) => known === name);
  if (role === undefined) {
    process.stderr.write(`Usage: node dist/workers/main.js ${WORKER_ROLES.join('|')}\n`);
    return 2;
  }
  const log = pino({ base: { role } });
  const config = loadWorkerConfig(role, process.env);
  const sdkPort = await freePort();
  installRuntime(sdkPort);

  let ready = false;
  const db = connect(config.databaseUrl, {
    onError: (error) => log.warn({ error: error.message }, 'lost an idle connection to Postgres'),
  });
  const registry = new Registry();
  const refresh = role === 'orchestrator' ? addRunGauges(registry, db) : async () => undefined;
  const metrics = await serveMetrics(
    { host: config.metricsHost, port: config.metricsPort, sdkPort },
    registry,
    refresh,
    () => ready,
  );
  await migrate(db);
  const temporal = await connectTemporal(log);
  const running = await ROLES[role]({ config, log, db, temporal, registry });
  // Workers shut themselves down on SIGTERM and SIGINT (the SDK's runtime listens); run() resolves when all of it has ended.
  const ended = Promise.all([...running.workers.map((worker) => worker.run()), running.ended]);
  ready = true;
  log.info(
    { queues: running.workers.map(({ options }) => options.taskQueue), metricsPort: config.metricsPort },
    'ready',
  );
  try {
    await ended;
  } finally {
    ready = false;
    await running.close();
    await temporal.connection.close();
    await metrics.close();
    await db.end();
  }
  log.info('stopped');
  return 0;
}

main(process.argv[2]).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const text =
      error instanceof ConfigError
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
    process.stderr.write(`${text}\n`);
    process.exit(error instanceof ConfigError ? 3 : 1);
  },
);
