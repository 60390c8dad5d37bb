import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

/** A checkout with our launcher and programs that only write down that they were called. */
let root: string;
const script = (path: string, text: string): void => {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
};
const real = (name: string): string =>
  spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'swarmline-launcher-'));
  cpSync('swarmline', join(root, 'swarmline'));
  writeFileSync(join(root, 'package-lock.json'), '{}');
  mkdirSync(join(root, 'workers'));
  mkdirSync(join(root, 'bin'));
  mkdirSync(join(root, 'spec'));
  writeFileSync(join(root, 'workers/bundle.ts'), '');
  writeFileSync(join(root, 'spec/model.ts'), '');
  for (const name of [
    'sh',
    'dirname',
    'readlink',
    'cat',
    'find',
    'head',
    'mkdir',
    'mv',
    'rm',
    'sleep',
    'cut',
    'uname',
    'sha256sum',
    'id',
  ]) {
    symlinkSync(real(name), join(root, 'bin', name));
  }
  symlinkSync(real('git'), join(root, 'bin/git'));
  symlinkSync(process.execPath, join(root, 'bin/node'));
  const program = 'console.log(JSON.stringify(process.argv.slice(2)))';
  script(
    join(root, 'bin/npm'),
    [
      `echo "$*" >> ${root}/npm.log`,
      `case "$1" in ci) mkdir -p ${root}/node_modules;;`,
      `run) sleep 0.2; mkdir -p ${root}/dist/cli; echo '${program}' > ${root}/dist/cli/main.js;; esac`,
    ].join('\n'),
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const launch = (
  args: string[] = [],
  program = join(root, 'swarmline'),
): { code: number | null; out: string; err: string } => {
  const result = spawnSync(program, args, { encoding: 'utf8', env: { PATH: join(root, 'bin') } });
  return { code: result.status, out: result.stdout, err: result.stderr };
};
const npmCalls = (): string[] =>
  readFileSync(join(root, 'npm.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]!);
/** Dated a minute ahead: newer than the stamp, whatever the clock's grain. */
const edit = (name: string): void => {
  const later = Date.now() / 1000 + 60;
  utimesSync(join(root, name), later, later);
};

describe('the launcher', () => {
  test('installs and builds once, passes arguments on as they are, and does nothing the second time', () => {
    const first = launch(['run', 'a b', '', "it's"]);
    expect(first).toMatchObject({ code: 0, out: '["run","a b","","it\'s"]\n' });
    expect(first.err).toMatch(/installing packages[\s\S]*building/);
    expect(launch()).toEqual({ code: 0, out: '[]\n', err: '' });
    expect(npmCalls()).toEqual(['ci', 'run']);
  });

  test('a newer source builds again and installs nothing', () => {
    launch();
    edit('spec/model.ts');
    launch();
    expect(npmCalls()).toEqual(['ci', 'run', 'run']);
  });

  test('a changed lockfile installs again', () => {
    launch();
    writeFileSync(join(root, 'package-lock.json'), '{"changed": true}');
    launch();
    expect(npmCalls().filter((name) => name === 'ci')).toHaveLength(2);
  });

  test('an install that failed is repeated, never trusted', () => {
    const npm = readFileSync(join(root, 'bin/npm'), 'utf8');
    script(join(root, 'bin/npm'), `mkdir -p ${root}/node_modules; exit 1`);
    expect(launch().code).toBe(3);
    writeFileSync(join(root, 'bin/npm'), npm);
    expect(launch().code).toBe(0);
  });

  test('a build that failed is repeated, and exits 1', () => {
    const npm = readFileSync(join(root, 'bin/npm'), 'utf8');
    script(join(root, 'bin/npm'), `mkdir -p ${root}/node_modules; [ "$1" = ci ]`);
    expect(launch().code).toBe(1);
    writeFileSync(join(root, 'bin/npm'), npm);
    expect(launch().code).toBe(0);
  });

  test('works through links, from anywhere', () => {
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync('../swarmline', join(root, 'elsewhere/relative'));
    symlinkSync(join(root, 'elsewhere/relative'), join(root, 'elsewhere/absolute'));
    expect(launch(['x'], join(root, 'elsewhere/absolute'))).toMatchObject({ code: 0, out: '["x"]\n' });
  });

  test('launches at the same time wait for each other: one install, one build', async () => {
    const run = promisify(execFile);
    const all = await Promise.all(
      Array.from({ length: 3 }, () => run(join(root, 'swarmline'), ['ok'], { env: { PATH: join(root, 'bin') } })),
    );
    expect(all.map(({ stdout }) => stdout)).toEqual(['["ok"]\n', '["ok"]\n', '["ok"]\n']);
    expect(npmCalls()).toEqual(['ci', 'run']);
    expect(existsSync(join(root, '.cache/launch.lock'))).toBe(false);
  });

  test('the lock of a launch that was killed is taken over', () => {
    mkdirSync(join(root, '.cache/launch.lock'), { recursive: true });
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    writeFileSync(join(root, '.cache/launch.lock/pid'), `${gone}\n`);
    expect(launch().code).toBe(0);
  });

  test.each(['18.20.4', '20.18.9'])('Node %s is too old: exit 3, with what to install', (version) => {
    rmSync(join(root, 'bin/node'));
    script(join(root, 'bin/node'), `echo ${version}`);
    const { code, err } = launch();
    expect(code).toBe(3);
    expect(err).toMatch(new RegExp(`Node ${version.replaceAll('.', '\\.')} is too old[\\s\\S]*type:.*22`));
  });

  test.each([
    ['node', /Node is not installed[\s\S]*type:/],
    ['git', /git is not installed[\s\S]*type:.*apt-get install -y git/],
    ['npm', /npm is not installed[\s\S]*type:/],
  ])('without %s it exits 3 and says what to type', (name, message) => {
    rmSync(join(root, 'bin', name));
    const { code, err } = launch();
    expect(code).toBe(3);
    expect(err).toMatch(message);
  });
});
