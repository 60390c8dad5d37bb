import { describe, expect, test } from '@jest/globals';
import type Docker from 'dockerode';
import { checkEngine, connectDocker } from '../../../sandbox/docker.ts';
import { engineCall } from '../../../sandbox/engine-call.ts';
import { EngineUnsupported, InfrastructureFault, SandboxSetupError } from '../../../sandbox/faults.ts';
import { createOptions } from '../../../sandbox/host-config.ts';
import { setupEnvironment } from '../../../sandbox/setup-env.ts';
import { badProvides } from '../../../sandbox/setup-result.ts';
import type { StepRequest } from '../../../sandbox/types.ts';

describe('the connection to the engine', () => {
  const modem = (env: Record<string, string>): { host?: string; port?: number; socketPath?: string } =>
    connectDocker(env).modem as never;

  test('follows DOCKER_HOST, and not the one of this process when another is given', () => {
    expect(modem({ DOCKER_HOST: 'unix:///x/y.sock' })).toMatchObject({ host: undefined, socketPath: '/x/y.sock' });
    expect(modem({ DOCKER_HOST: 'tcp://10.0.0.1:2375' })).toMatchObject({ host: '10.0.0.1', port: 2375 });
    expect(modem({ DOCKER_HOST: 'tcp://box' })).toMatchObject({ host: 'box', port: 2375 });
    expect(modem({}).socketPath).toMatch(/docker\.sock$/);
  });

  test('refuses an address that it does not understand, with the two forms that it does', () => {
    for (const address of ['ssh://box', 'nonsense', 'tcp://']) {
      expect(() => connectDocker({ DOCKER_HOST: address })).toThrow(SandboxSetupError);
      expect(() => connectDocker({ DOCKER_HOST: address })).toThrow('tcp://host:port');
    }
  });

  test('an engine with remapped users is refused with what to change', async () => {
    const engine = (options: string[]): Docker =>
      ({ info: () => Promise.resolve({ SecurityOptions: options }) }) as never;
    await checkEngine(engine(['name=seccomp,profile=default']));
    for (const mode of ['name=userns', 'name=rootless']) {
      await expect(checkEngine(engine(['name=seccomp,profile=default', mode]))).rejects.toThrow(EngineUnsupported);
    }
  });

  test('a call that never settles ends at its timeout; an answer is passed on as it is', async () => {
    await expect(engineCall('x', 20, () => new Promise(() => undefined))).rejects.toThrow(InfrastructureFault);
    await expect(
      engineCall('x', 1000, () => Promise.reject(Object.assign(new Error('gone'), { statusCode: 404 }))),
    ).rejects.toMatchObject({ statusCode: 404 });
    await expect(engineCall('x', 1000, () => Promise.reject(new Error('ECONNREFUSED')))).rejects.toThrow(
      InfrastructureFault,
    );
  });
});

describe('what a container may do', () => {
  const request: StepRequest = {
    key: { run: 'r', task: null, attempt: 1, kind: 'gate', step: 's' },
    image: 'i',
    argv: ['a', '$b'],
    env: { X: '1' },
    workspace: { dir: '/w', readOnly: true },
    mounts: [{ source: '/s', target: '/t', readOnly: true }],
    stdinFile: null,
    limits: { cpus: 1.5, memoryBytes: 2 ** 28, pids: 64, diskBytes: 2 ** 30, outputBytes: 1, agentMs: 1, stepMs: 1 },
    deadlineMs: 1,
    network: 'none',
    outputFile: '/o',
  };

  test('is nothing beyond what was asked', () => {
    const { HostConfig: host, ...options } = createOptions(request, 'n', {});
    expect(host).toMatchObject({
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      Memory: 2 ** 28,
      MemorySwap: 2 ** 28,
      NanoCpus: 1.5e9,
      PidsLimit: 64,
      LogConfig: { Type: 'none' },
      AutoRemove: false,
    });
    expect(host?.Binds).toBeUndefined();
    expect(options).toMatchObject({
      Entrypoint: ['a', '$b'],
      Cmd: [],
      Env: ['HOME=/home/agent', 'LANG=C.UTF-8', 'CI=1', 'X=1'],
    });
    expect(options.User).not.toMatch(/^0/);
  });

  test('argv is never part of a shell line, also when a file is its input', () => {
    const { Entrypoint } = createOptions({ ...request, stdinFile: '/workspace/in file' }, 'n', {});
    expect(Entrypoint).toEqual(['/bin/sh', '-c', 'exec "$@" < "$0"', '/workspace/in file', 'a', '$b']);
  });

  test('tmpfs and shared memory together leave memory for the command', () => {
    for (const memoryBytes of [2 ** 26, 2 ** 28, 2 ** 30, 2 ** 34]) {
      const { HostConfig: host } = createOptions({ ...request, limits: { ...request.limits, memoryBytes } }, 'n', {});
      const sizes = Object.values((host?.Tmpfs ?? {}) as Record<string, string>).map((text) =>
        Number(/size=(\d+)/.exec(text)?.[1]),
      );
      expect(sizes.reduce((sum, size) => sum + size, host?.ShmSize ?? 0)).toBeLessThan(memoryBytes * 0.9);
    }
  });
});

describe('setup', () => {
  test('is lent only what is named', () => {
    expect(setupEnvironment({ npm_config_registry: 'https://r', SECRET: 'x' })).toEqual({});
    expect(
      setupEnvironment({
        SWARMLINE_SETUP_ENV: 'npm_config_registry, NPM_TOKEN ABSENT',
        npm_config_registry: 'https://r',
        NPM_TOKEN: 't',
        SECRET: 'x',
      }),
    ).toEqual({
      npm_config_registry: 'https://r',
      NPM_TOKEN: 't',
    });
  });

  test('provides something that can be mounted without hiding the image', () => {
    for (const fine of ['node_modules', '.venv', 'vendor/bundle', 'site-packages'])
      expect(badProvides(fine)).toBeNull();
    for (const bad of ['', '/x', '../x', 'a//b', 'a/../b', 'usr', 'etc/x', 'workspace', 'a b', '.'])
      expect(badProvides(bad)).not.toBeNull();
  });
});
