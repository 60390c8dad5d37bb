/**
 * Services of a spec, beside one step.
 *
 * Invariants
 * 1. All services and the step share one network namespace that has only the loopback interface: the first service makes it, the others and the step
 *    join it. Each service is reached at localhost and by its name.
 * 2. The step starts when every ready command has ended with 0; a service that ends before is a ServiceFailed with the end of its log.
 * 3. `close` removes them all; an owner that dies leaves them to the reaper, like steps.
 */
import { randomUUID } from 'node:crypto';
import type { Limits, Service } from '../spec/model.ts';
import { attachContainer, createContainer, engineSaid, startContainer } from './container-life.ts';
import { Demux } from './demux.ts';
import { resolveImage } from './docker.ts';
import { CALL_MS, engineCall, statusOf } from './engine-call.ts';
import { ServiceFailed } from './faults.ts';
import { containerName, labelsOf, liveNonces } from './identity.ts';
import { pauseIfFrozen } from './pause.ts';
import { removeContainer } from './remove.ts';
import { serviceOptions } from './service-config.ts';
import { READY_MS, type Started, becomeReady } from './service-ready.ts';
import type { Network, Sandbox, StepKey } from './types.ts';

/** A writable layer has no quota of its own: it is measured, and a service that is over limits.disk is killed. */
const DISK_LOOK_MS = 10_000;
const LOG_KEPT_BYTES = 16 * 1024;

export interface ServicesRequest {
  readonly sandbox: Sandbox;
  readonly services: Readonly<Record<string, Service>>;
  /** Of the step that they run beside. */
  readonly key: StepKey;
  /** Each service may take as much memory and CPU as the step. */
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

export interface Services {
  /** What the step joins. */
  readonly network: Network;
  close(): Promise<void>;
}

/** Throws ServiceFailed; InfrastructureFault for the engine; the signal's reason when aborted. Nothing is left running then. */
export async function startServices(request: ServicesRequest): Promise<Services> {
  const { sandbox, services, key, limits } = request;
  const names = Object.keys(services).sort();
  if (names.length === 0) return { network: 'none', close: () => Promise.resolve() };
  const signal = request.signal ?? new AbortController().signal;
  const nonce = randomUUID();
  const started: Started[] = [];
  let watch: NodeJS.Timeout | undefined;
  const close = async (): Promise<void> => {
    clearInterval(watch);
    for (const { stream } of started) stream.destroy();
    liveNonces.delete(nonce); // what cannot be removed now is the reaper's
    await Promise.all([...started].reverse().map(({ id }) => removeContainer(sandbox.docker, id)));
  };
  liveNonces.add(nonce);
  try {
    await sandbox.context.freezer.whenThawed(key.run, signal);
    for (const name of names) {
      signal.throwIfAborted();
      await startOne(
        request,
        { name, service: services[name] as Service, names, nonce, holder: started[0]?.id ?? null },
        started,
      );
    }
    const end = performance.now() + READY_MS;
    await Promise.all(started.map((one) => becomeReady(sandbox, key.run, one, end, signal)));
    watch = setInterval(() => void killTheFat(sandbox, started, limits), DISK_LOOK_MS);
    return { network: { container: started[0]?.id ?? '' }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface One {
  readonly name: string;
  readonly service: Service;
  readonly names: readonly string[];
  readonly nonce: string;
  readonly holder: string | null;
}

async function startOne(request: ServicesRequest, one: One, started: Started[]): Promise<void> {
  const { sandbox, key, limits } = request;
  const { docker, context } = sandbox;
  const image = await resolveImage(docker, one.service.image);
  const details = await engineCall('image inspect', CALL_MS.quick, () => docker.getImage(image).inspect());
  const release = await context.startGate.acquire();
  try {
    const id = await createContainer(
      docker,
      serviceOptions({
        name: containerName(context.instance, key, `service:${one.name}`),
        image,
        labels: labelsOf(
          context.instance,
          key,
          context.owner,
          Date.now() + Math.max(limits.agentMs, limits.stepMs) + READY_MS,
          one.nonce,
        ),
        service: one.service,
        limits,
        volumes: Object.keys(details.Config.Volumes ?? {}),
        joins: one.holder,
        names: one.names,
      }),
    );
    const stream = await attachContainer(docker, id);
    const log = { tail: Buffer.alloc(0) as Buffer };
    const demux = new Demux((payload) => {
      log.tail = Buffer.concat([log.tail, payload.subarray(-LOG_KEPT_BYTES)]).subarray(-LOG_KEPT_BYTES);
      return Promise.resolve();
    });
    stream.on('error', () => demux.end());
    stream.pipe(demux);
    started.push({ name: one.name, id, service: one.service, stream, log });
    try {
      await startContainer(docker, id);
    } catch (error) {
      if (statusOf(error) === null) throw error;
      throw new ServiceFailed(
        one.name,
        `The service ${one.name} (sandbox.services.${one.name}) could not be started: ${engineSaid(error)}`,
      );
    }
    if (context.freezer.isFrozen(key.run)) await pauseIfFrozen(docker, context.freezer, key.run, id);
  } finally {
    release();
  }
}

async function killTheFat({ docker, log }: Sandbox, started: readonly Started[], limits: Limits): Promise<void> {
  for (const { id, name } of started) {
    try {
      const found = (await engineCall('container inspect', CALL_MS.quick, () =>
        docker.getContainer(id).inspect({ size: true } as object),
      )) as {
        SizeRw?: number;
      };
      if ((found.SizeRw ?? 0) <= limits.diskBytes) continue;
      log.warn(
        { service: name, bytes: found.SizeRw, limit: limits.diskBytes },
        'a service outgrew its disk limit and was killed',
      );
      await engineCall('container kill', CALL_MS.quick, () => docker.getContainer(id).kill());
    } catch {
      // gone, or the engine is busy: the next look tells
    }
  }
}
