/** The gateway of a host, put together from its parts. `workers/gateway.ts` gives it the store and the configuration. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createBackoff } from './backoff.ts';
import { serveControl } from './control.ts';
import { createPlaces } from './places.ts';
import type { Waiting } from './places.ts';
import { createAttemptServer } from './server.ts';
import type { ServerDeps } from './server.ts';
import { openSockets } from './sockets.ts';
import type { Caller, GatewayLog, Ledger, Upstream, UpstreamName } from './types.ts';

export interface GatewayOptions {
  /** A directory of its own; see controlPath. */
  readonly dir: string;
  readonly upstreams: Readonly<Partial<Record<UpstreamName, Upstream>>>;
  readonly ledger: Ledger;
  readonly mcp: ServerDeps['mcp'];
  readonly log: GatewayLog;
  /** A run has come to its limit: its callers wait. */
  readonly onBudget: (run: string, why: string) => void;
}

export interface Gateway {
  callers(): Caller[];
  close(caller: Caller): Promise<void>;
  waiting(): Waiting[];
  stop(): Promise<void>;
}

export const controlPath = (dir: string): string => join(dir, 'control.sock');

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { dir, ledger, log, upstreams, onBudget, mcp } = options;
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const places = createPlaces({
    ledger,
    onBudget,
    onError: (error) => log.warn({ error: String(error) }, 'the ledger does not answer; callers wait'),
  });
  const ways = new Map(
    Object.entries(upstreams).map(([name, upstream]) => [name as UpstreamName, { upstream, backoff: createBackoff() }]),
  );
  const deps: ServerDeps = { places, ledger, log, mcp, now: Date.now, upstream: (name) => ways.get(name) ?? null };
  const sockets = await openSockets(dir, (caller) => createAttemptServer(caller, deps));
  const control = await serveControl(controlPath(dir), sockets, () => places.wake());
  return {
    callers: () => sockets.callers(),
    close: (caller) => sockets.close(caller),
    waiting: () => [
      ...places.waiting(),
      ...[...ways.values()].flatMap(({ backoff }) =>
        backoff.waiting().map((waiter) => ({ ...waiter, refusal: 'patience' as const })),
      ),
    ],
    async stop() {
      control.close();
      control.closeAllConnections();
      places.close();
      await sockets.stop();
    },
  };
}
