import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Setup } from '../../../spec/model.ts';
import { type Sandbox, type SetUp, SetupFailed, ensureSetup, setupEnvironment } from '../../../sandbox/index.ts';
import { type Bench, IMAGE, LIMITS, openBench } from './fixture.ts';

describe('the setup cache', () => {
  let bench: Bench;
  let repository: { gitDir: string; commit: string };
  beforeAll(() => {
    bench = openBench();
    repository = bench.repository({ 'package.json': '{"name": "x"}\n', 'src/secret.ts': 'export {};\n' });
  });
  afterAll(() => bench.close());

  const setupOf = (run: string, change: Partial<Setup> = {}): Setup => ({
    run,
    files: ['package.json'],
    provides: 'node_modules',
    network: false,
    installScripts: false,
    ...change,
  });
  const ensure = (
    setup: Setup,
    change: { cacheDir?: string; signal?: AbortSignal; lend?: Record<string, string>; outputFile?: string } = {},
  ): Promise<SetUp> =>
    ensureSetup({
      sandbox: bench.sandbox,
      ...repository,
      setup,
      image: IMAGE,
      cacheDir: join(bench.stateDir, 'cache'),
      limits: LIMITS,
      outputFile: join(bench.stateDir, 'setup.log'),
      lend: {},
      ...change,
    });
  const make = `mkdir -p node_modules/dep/bin node_modules/.bin
    printf '{"name":"dep","main":"i.cjs","exports":{"import":"./i.mjs","require":"./i.cjs"}}' > node_modules/dep/package.json
    echo 'module.exports = "cjs"' > node_modules/dep/i.cjs; echo 'export default "esm"' > node_modules/dep/i.mjs
    printf '#!/bin/sh\\necho tool\\n' > node_modules/dep/bin/tool; chmod +x node_modules/dep/bin/tool; ln -s ../dep/bin/tool node_modules/.bin/dep-tool`;

  test('ESM, CommonJS and binaries resolve from what setup made, and it cannot be written', async () => {
    const { mounts, env } = await ensure(setupOf(make));
    const workspace = await bench.workspace(repository);
    const line = `node -p 'require("dep")'; node --input-type=module -e 'import d from "dep"; console.log(d)'; dep-tool; echo x > /node_modules/y || echo refused`;
    const outcome = await bench.run(line, workspace, { mounts, env });
    // Two pipes: their order towards each other is the engine's business.
    for (const part of ['cjs\n', 'esm\n', 'tool\n']) expect(outcome.output).toContain(part);
    expect(outcome.output).toContain('Read-only file system');
    expect(outcome.output).toContain('refused\n');
  });

  test('its container sees the listed files and no other, and no network unless asked', async () => {
    const { mounts, env } = await ensure(
      setupOf(
        'find . -type f > /tmp/seen && mkdir node_modules && cp /tmp/seen node_modules && ls /sys/class/net > node_modules/net',
      ),
    );
    const outcome = await bench.run('cat /node_modules/seen /node_modules/net', null, { mounts, env });
    expect(outcome.output).toBe('./package.json\nlo\n');
  });

  test('many attempts at once run it once, and a later one not at all', async () => {
    const cacheDir = mkdtempSync(join(bench.stateDir, 'once-'));
    const setup = setupOf('mkdir node_modules && cat /proc/sys/kernel/random/uuid > node_modules/id');
    const all = await Promise.all(
      Array.from({ length: 5 }, (_, at) => ensure(setup, { cacheDir, outputFile: join(cacheDir, `o${at}`) })),
    );
    expect(new Set(all.map(({ mounts }) => mounts[0]?.source)).size).toBe(1);
    const id = readFileSync(join(all[0]?.mounts[0]?.source ?? '', 'id'), 'utf8');
    const again = await ensure(setup, { cacheDir });
    expect(readFileSync(join(again.mounts[0]?.source ?? '', 'id'), 'utf8')).toBe(id);
  });

  test('another lockfile, command or option is another setup', async () => {
    const first = await ensure(setupOf(make));
    const other = await ensureSetup({
      sandbox: bench.sandbox,
      ...bench.repository({ 'package.json': '{"name": "y"}\n' }),
      setup: setupOf(make),
      image: IMAGE,
      cacheDir: join(bench.stateDir, 'cache'),
      limits: LIMITS,
      outputFile: join(bench.stateDir, 'other.log'),
      lend: {},
    });
    expect(other.mounts[0]?.source).not.toBe(first.mounts[0]?.source);
  });

  test('a failure names the command, keeps its output, and is not remembered', async () => {
    const cacheDir = mkdtempSync(join(bench.stateDir, 'fail-'));
    const setup = setupOf('echo no such package >&2; exit 7');
    const outputFile = join(cacheDir, 'out.log');
    await expect(ensure(setup, { cacheDir, outputFile })).rejects.toMatchObject({
      name: 'SetupFailed',
      outputFile,
      message: expect.stringContaining('exit code 7'),
    });
    expect(readFileSync(outputFile, 'utf8')).toBe('no such package\n');
    await expect(ensure(setup, { cacheDir })).rejects.toThrow(SetupFailed);
    expect(readdirSync(cacheDir).filter((name) => /^[0-9a-f]{40}$/.test(name))).toEqual([]);
  });

  test('a result that is a link to elsewhere, or is missing, is refused', async () => {
    await expect(ensure(setupOf('ln -s /etc node_modules'))).rejects.toThrow('did not make the directory node_modules');
    await expect(ensure(setupOf('true'))).rejects.toThrow('did not make the directory node_modules');
    await expect(ensure(setupOf('mkdir x', { provides: 'usr' }))).rejects.toThrow('/usr is a directory of the image');
    await expect(ensure(setupOf('mkdir x', { provides: '../x' }))).rejects.toThrow('plain relative path');
  });

  test('what the worker lends is seen by setup, by nobody later, and not in the output', async () => {
    const outputFile = join(bench.stateDir, 'lent.log');
    const lend = { NPM_TOKEN: 's3cr3t-token' };
    const setup = setupOf('echo "token: $NPM_TOKEN"; mkdir node_modules; test -n "$NPM_TOKEN"');
    const { env } = await ensure(setup, { lend, outputFile });
    expect(readFileSync(outputFile, 'utf8')).toBe('token: ***\n');
    expect(JSON.stringify(env)).not.toContain('s3cr3t');
  });

  test('npm installs a real package over the network, trusting the authorities of the host', async () => {
    const manifest = '{"name": "x", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}';
    const real = bench.repository({ 'package.json': manifest });
    const outputFile = join(bench.stateDir, 'npm.log');
    const caBundle = process.env['SWARMLINE_CA_BUNDLE'] ?? '/etc/ssl/certs/ca-certificates.crt';
    // The tests' own registry settings, if there are any, as an administrator would lend them.
    const lend = setupEnvironment({ ...process.env, SWARMLINE_SETUP_ENV: 'npm_config_registry' });
    const { mounts, env } = await ensureSetup({
      sandbox: Object.create(bench.sandbox, { caBundle: { value: caBundle } }) as Sandbox,
      ...real,
      setup: setupOf('npm install --no-package-lock', { network: true }),
      image: IMAGE,
      cacheDir: join(bench.stateDir, 'cache'),
      limits: { ...LIMITS, memoryBytes: 512 * 2 ** 20, stepMs: 120_000 },
      outputFile,
      lend,
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : ''}`);
    });
    const workspace = await bench.workspace(real);
    const outcome = await bench.run(`node -p 'require("is-number")(5)'; env | grep -c npm_ || true`, workspace, {
      mounts,
      env,
    });
    expect(outcome.output).toBe('true\n0\n');
  }, 120_000);

  test('a Python environment works at its final place', async () => {
    const run = `mkdir -p venv/bin && echo home > venv/pyvenv.cfg && ln -s /bin/sh venv/bin/python
      printf '#!/workspace/venv/bin/python\\necho "ran in $VIRTUAL_ENV"\\n' > venv/bin/tool && chmod +x venv/bin/tool`;
    const { mounts, env } = await ensure(setupOf(run, { provides: 'venv' }));
    const outcome = await bench.run('tool', null, { mounts, env });
    expect(outcome.output).toBe('ran in /venv\n');
  });

  test('an aborted one leaves neither container nor result, and the next one runs', async () => {
    const cacheDir = mkdtempSync(join(bench.stateDir, 'abort-'));
    const setup = setupOf('mkdir node_modules; test -e /cache/x || sleep 60');
    const abort = new AbortController();
    const running = ensure(setup, { cacheDir, signal: abort.signal });
    running.catch(() => undefined);
    while ((await bench.containers()).every(({ State }) => State !== 'running'))
      await new Promise((r) => setTimeout(r, 50));
    abort.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(await bench.containers()).toEqual([]);
    expect(existsSync(join(cacheDir, 'sandbox/setup')) && readdirSync(join(cacheDir, 'sandbox/setup'))).toEqual([]);
  });
});
