/** The connection to the Docker engine, what kind of engine it is, and image names resolved to ids. */
import { existsSync, readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { join } from 'node:path';
import Docker from 'dockerode';
import { CALL_MS, engineCall, statusOf } from './engine-call.ts';
import { EngineUnsupported, ImageMissing, SandboxSetupError } from './faults.ts';
import { opaque } from './opaque.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * DOCKER_HOST (unix:// or tcp://, with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH) or the default socket. Opens nothing yet.
 * Connections are not kept alive: after an engine restart a pooled one fails once, and a closed listener must be seen at once.
 */
export function connectDocker(env: Environment): Docker {
  // `host: undefined` is needed: docker-modem lets process.env.DOCKER_HOST win over a given socketPath.
  const over = (options: object): Docker => new Docker({ host: undefined, ...options });
  const host = env['DOCKER_HOST'] ?? '';
  if (host === '')
    return over({ socketPath: defaultSocket(env), agent: opaque(new HttpAgent({ keepAlive: false }), 'agent') });
  if (host.startsWith('unix://')) {
    return over({
      socketPath: host.slice('unix://'.length),
      agent: opaque(new HttpAgent({ keepAlive: false }), 'agent'),
    });
  }
  const url = URL.canParse(host) ? new URL(host) : null;
  if (url === null || !['tcp:', 'http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new SandboxSetupError(
      `DOCKER_HOST is "${host}", which is neither unix:///path nor tcp://host:port. Set it to one of these, or unset it for the default socket.`,
    );
  }
  const secure = url.protocol === 'https:' || (env['DOCKER_TLS_VERIFY'] ?? '') !== '';
  const port = Number(url.port || (secure ? 2376 : 2375));
  if (!secure) {
    return over({
      host: url.hostname,
      port,
      protocol: 'http',
      agent: opaque(new HttpAgent({ keepAlive: false }), 'agent'),
    });
  }
  const certs = env['DOCKER_CERT_PATH'] ?? join(env['HOME'] ?? '/root', '.docker');
  const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((file) => readFileSync(join(certs, file)));
  return over({
    host: url.hostname,
    port,
    protocol: 'https',
    ca,
    cert,
    key,
    agent: opaque(new HttpsAgent({ keepAlive: false }), 'agent'),
  });
}

function defaultSocket(env: Environment): string {
  const system = '/var/run/docker.sock';
  const candidates = [system, join(env['HOME'] ?? '/root', '.docker/run/docker.sock')];
  return candidates.find((path) => existsSync(path)) ?? system;
}

/** Throws EngineUnsupported when bind mounts would not have the owner that the sandbox gives them. */
export async function checkEngine(docker: Docker): Promise<void> {
  const info = (await engineCall('info', CALL_MS.quick, () => docker.info())) as { SecurityOptions?: string[] };
  const options = (info.SecurityOptions ?? []).join(',');
  for (const mode of ['userns', 'rootless']) {
    if (options.includes(`name=${mode}`)) {
      throw new EngineUnsupported(
        `The Docker engine runs with ${mode === 'userns' ? 'userns-remap' : 'rootless mode'}, so files in a workspace would belong to a remapped user and could not be written. ` +
          `Point DOCKER_HOST at an engine without it (remove "userns-remap" from /etc/docker/daemon.json and restart docker).`,
      );
    }
  }
}

/** Pulls that run now, by name: many attempts of one run ask at once. */
const pulls = new Map<string, Promise<void>>();

/** The image's content id (`sha256:…`); pulls it when it is not here. Throws ImageMissing. */
export async function resolveImage(docker: Docker, image: string): Promise<string> {
  const here = await imageId(docker, image);
  if (here !== null) return here;
  let pull = pulls.get(image);
  if (pull === undefined) {
    pull = pullImage(docker, image).finally(() => pulls.delete(image));
    pulls.set(image, pull);
  }
  await pull;
  const pulled = await imageId(docker, image);
  if (pulled === null) throw new ImageMissing(image, 'the pull ended without it');
  return pulled;
}

async function imageId(docker: Docker, image: string): Promise<string | null> {
  try {
    return (await engineCall('image inspect', CALL_MS.quick, () => docker.getImage(image).inspect())).Id;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

async function pullImage(docker: Docker, image: string): Promise<void> {
  const name = /[:@][^/]*$/.test(image) ? image : `${image}:latest`;
  try {
    await engineCall('image pull', CALL_MS.pull, async (abortSignal) => {
      const stream = await docker.pull(name, { abortSignal });
      await new Promise<void>((resolve, reject) =>
        docker.modem.followProgress(stream, (error: Error | null) =>
          error ? reject(new ImageMissing(image, error.message)) : resolve(),
        ),
      );
    });
  } catch (error) {
    if (statusOf(error) !== null) throw new ImageMissing(image, (error as Error).message.trim());
    if (error instanceof Error && error.cause instanceof ImageMissing) throw error.cause;
    throw error;
  }
}

/**
 * Whether the engine sees a directory of ours at the same path. Asked with a create that cannot succeed: mounts are checked (400: no such
 * source) before the image is looked up (404: no such image), so nothing is made and no image is needed.
 */
export async function engineSeesPath(docker: Docker, path: string): Promise<boolean> {
  try {
    await engineCall('container create', CALL_MS.quick, () =>
      docker.createContainer({
        Image: `sha256:${'0'.repeat(64)}`,
        HostConfig: { Mounts: [{ Type: 'bind', Source: path, Target: '/x', ReadOnly: true }] },
      }),
    );
    return false;
  } catch (error) {
    const status = statusOf(error);
    if (status === null) throw error;
    return status === 404;
  }
}
