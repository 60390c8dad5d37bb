#!/usr/bin/env node
/**
 * The whole demonstration without the orchestrator, to be run by hand (it needs an npm registry once, and minutes):
 *
 *   node examples/zod/selfcheck.mjs [--docker IMAGE] [--all] [--keep]
 *
 * The gate on the base is green; planted faults turn the right step red; each kind of task ends as the README says; tasks that break each
 * other are told so in both orders of merging. --docker runs every command as the sandbox does. --all tries every locale.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';

const HERE = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: { docker: { type: 'string' }, all: { type: 'boolean' }, keep: { type: 'boolean' } },
});
const USER = '10001:10001';
const top = mkdtempSync(join(tmpdir(), 'zod-selfcheck-'));
const origin = `${top}/repository`;
const full = parse(readFileSync(`${HERE}/full.yaml`, 'utf8'));
let failed = 0;

function say(ok, what, note = '') {
  if (!ok) failed += 1;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}${note === '' ? '' : `  (${note})`}`);
}

// ── commands, as the sandbox runs them ──

function inBox(checkout, argv, input = '') {
  const started = Date.now();
  const path = process.env.PATH;
  const [[program, ...rest], at] =
    options.docker === undefined
      ? [argv, { cwd: checkout, env: { ...process.env, CI: '1', PATH: `${top}/node_modules/.bin:${path}` } }]
      : [['docker', ...dockerArguments(checkout), options.docker, ...argv], {}];
  const done = spawnSync(program, rest, { ...at, input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return { code: done.status, log: `${done.stdout}${done.stderr}`, seconds: (Date.now() - started) / 1000 };
}

function dockerArguments(checkout) {
  execFileSync('chown', ['-R', USER, checkout]);
  const flags = `run --rm -i --init --network none --read-only --cap-drop ALL --security-opt no-new-privileges
    --user ${USER} --cpus 1 --memory 2g --memory-swap 2g --pids-limit 512 --workdir /workspace
    --tmpfs /tmp:rw,exec,nosuid,nodev,size=512m,mode=1777
    --tmpfs /home/agent:rw,exec,nosuid,nodev,size=256m,uid=10001,gid=10001,mode=0700
    --env HOME=/home/agent --env CI=1 --env LANG=C.UTF-8 --env PATH=/node_modules/.bin:/usr/local/bin:/usr/bin:/bin`;
  return [
    ...flags.split(/\s+/),
    '--volume',
    `${checkout}:/workspace`,
    '--volume',
    `${top}/node_modules:/node_modules:ro`,
  ];
}

function git(...argv) {
  const identity = [
    '-c',
    'user.name=Selfcheck',
    '-c',
    'user.email=selfcheck@swarmline.invalid',
    '-c',
    'safe.directory=*',
  ];
  return execFileSync('git', [...identity, ...argv], { encoding: 'utf8' }).trim();
}

let count = 0;
/** A checkout of its own beside node_modules, as the sandbox has it. */
function checkoutOf(commit) {
  const dir = `${top}/checkout-${++count}`;
  git('clone', '--quiet', '--shared', origin, dir);
  git('-C', dir, 'checkout', '--quiet', commit);
  return dir;
}

function commitAll(dir, message) {
  git('-C', dir, 'add', '--all');
  git('-C', dir, 'commit', '--quiet', '--message', message);
  git('-C', dir, 'push', '--quiet', 'origin', `HEAD:refs/attempts/${count}`);
  return git('-C', dir, 'rev-parse', 'HEAD');
}

// ── the gate ──

const LEVELS = ['task', 'mainline', 'wave'];
function commandOf(step, level) {
  if (typeof step === 'string') return step;
  for (let at = LEVELS.indexOf(level); at >= 0; at -= 1) if (step[LEVELS[at]] !== undefined) return step[LEVELS[at]];
  return null;
}

/** @returns the first red step with its log, or null; and the seconds of each step. */
function gate(spec, level, commit, changed) {
  const seconds = [];
  for (const name of ['lint', 'typecheck', 'test', 'build']) {
    const command = commandOf(spec.gate[name], level).replace('{changed}', changed.join(' '));
    const dir = checkoutOf(commit);
    const done = inBox(dir, ['sh', '-c', command]);
    rmSync(dir, { recursive: true, force: true });
    seconds.push(`${name} ${done.seconds.toFixed(1)} s`);
    if (done.code !== 0) return { red: name, log: done.log, seconds: seconds.join(', ') };
  }
  return { red: null, log: '', seconds: seconds.join(', ') };
}

// ── tasks ──

const locale = full.fanOut[0].task;
function taskOf(id) {
  const given = full.tasks.find((task) => task.id === id);
  if (given !== undefined) return given;
  const put = (text) => text.replace('{file}', `src/v4/locales/${id.replace('locale-', '')}.ts`);
  return { ...locale, id, files: { allow: locale.files.allow.map(put) }, run: locale.run.map(put) };
}

const inScope = (path, allow) =>
  allow.some((glob) =>
    new RegExp(
      `^${glob.replaceAll('.', '\\.').replaceAll('**', '\u0000').replaceAll('*', '[^/]*').replaceAll('\u0000', '.*')}$`,
    ).test(path),
  );

/** One attempt: the tool in a checkout of `base`, the scope, the gate. */
function attempt(task, base, lastFailure) {
  const dir = checkoutOf(base);
  const { git: _, ...rest } = task;
  const ran = inBox(dir, task.run, JSON.stringify({ task: rest, lastFailure }));
  if (ran.code !== 0) return { cause: 'agent-failed', why: ran.log.slice(-600), log: ran.log };
  git('-C', dir, 'add', '--all');
  const changed = git('-C', dir, 'diff', '--cached', '--name-only').split('\n').filter(Boolean);
  const outside = changed.filter((path) => !inScope(path, task.files.allow));
  if (changed.length === 0) return { cause: 'nothing-done', why: 'Nothing changed.', log: '' };
  if (outside.length > 0) return { cause: 'scope', why: `The task may not change ${outside.join(', ')}.`, log: '' };
  const commit = commitAll(dir, task.id);
  rmSync(dir, { recursive: true, force: true });
  const { red, log, seconds } = gate(full, 'task', commit, changed);
  const timing = `tool ${ran.seconds.toFixed(1)} s, ${seconds}`;
  if (red !== null)
    return { cause: 'gate-red', why: `The gate step "${red}" is red.`, log: log.slice(-16_384), red, timing };
  return { cause: null, commit, changed, timing };
}

/** Attempts until green, each told of the last; at most four. */
function work(id, base, lastFailure = null) {
  const task = taskOf(id);
  const history = [];
  for (let n = 1; n <= 4; n += 1) {
    const done = attempt(task, base, lastFailure);
    history.push(done.cause === null ? 'green' : (done.red ?? done.cause));
    if (done.cause === null) return { ...done, history };
    lastFailure = { cause: done.cause, why: done.why, log: done.log };
  }
  return { commit: null, changed: [], history, timing: '', log: lastFailure.log };
}

function expectWork(id, base, expected, lastFailure = null) {
  const done = work(id, base, lastFailure);
  const got = done.history.join(' → ');
  say(got === expected, `${id}: ${got}`, got === expected ? done.timing : `expected ${expected}\n${done.log}`);
  return done;
}

function merge(onto, commits) {
  const dir = checkoutOf(onto);
  for (const commit of commits) {
    git('-C', dir, 'fetch', '--quiet', 'origin', commit);
    git('-C', dir, 'merge', '--quiet', '--no-ff', '--no-edit', commit);
  }
  const head = commitAllowEmpty(dir);
  rmSync(dir, { recursive: true, force: true });
  return head;
}

function commitAllowEmpty(dir) {
  git('-C', dir, 'push', '--quiet', '--force', 'origin', `HEAD:refs/attempts/m${count}`);
  return git('-C', dir, 'rev-parse', 'HEAD');
}

/** A fault in one file must turn this step red at the wave level. */
function fault(base, step, path, find, put) {
  const dir = checkoutOf(base);
  const text = readFileSync(`${dir}/${path}`, 'utf8');
  if (!text.includes(find)) return say(false, `fault in ${path}: "${find}" is not there`);
  writeFileSync(`${dir}/${path}`, text.replace(find, put));
  const commit = commitAll(dir, 'fault');
  const { red } = gate(full, 'wave', commit, [path]);
  say(red === step, `a fault in ${path} turns ${step} red`, String(red));
}

// ── the check ──

function prepare() {
  const argv = [`${HERE}/prepare.mjs`, '--out', origin];
  execFileSync(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] });
  return git('-C', origin, 'rev-parse', 'main');
}

try {
  const base = prepare();
  say(prepare() === base, 'preparing again changes nothing', base.slice(0, 10));
  mkdirSync(`${top}/setup`);
  for (const file of full.sandbox.setup.files) cpSync(`${origin}/${file}`, `${top}/setup/${file}`);
  execFileSync('npm', ['ci', '--ignore-scripts', '--silent'], { cwd: `${top}/setup`, stdio: 'inherit' });
  execFileSync('mv', [`${top}/setup/node_modules`, top]);

  const baseline = gate(full, 'wave', base, ['src/v4/locales/en.ts']);
  say(baseline.red === null, 'the base is green at the wave level', baseline.seconds + baseline.log.slice(-3000));
  fault(
    base,
    'lint',
    'src/v4/locales/de.ts',
    'import * as util',
    'import * as unused from "../core/doc.js";\nimport * as util',
  );
  fault(base, 'typecheck', 'src/v4/locales/de.ts', 'unit: "Zeichen"', 'unit: 7');
  fault(
    base,
    'test',
    'src/v4/locales/en.ts',
    'Invalid input: expected ${expected}',
    'Wrong input: expected ${expected}',
  );
  fault(base, 'test', 'src/v4/core/util.ts', '.join(separator)', '.join("; ")');
  const silent = 'case "invalid_type": {\n        if (issue.input !== null) return undefined as never;';
  fault(base, 'build', 'src/v4/locales/ar.ts', 'case "invalid_type": {', silent);

  const kit = expectWork('locale-kit', base, 'green');
  const recorded = expectWork('record-messages', base, 'green');
  let verified = merge(base, [kit.commit, recorded.commit]);
  const wave1 = verified;

  const EXPECTED = {
    de: 'green',
    kh: 'green',
    fi: 'typecheck → green',
    pt: 'typecheck → green',
    'pt-BR': 'typecheck → green',
    he: 'typecheck → green',
    be: 'lint → green',
    hy: 'lint → green',
    ru: 'lint → green',
    lt: 'lint → green',
    en: 'test → green',
  };
  const index = readFileSync(`${origin}/src/v4/locales/index.ts`, 'utf8');
  const codes = [...index.matchAll(/from "\.\/(.+)\.js"/g)].map(([, code]) => code);
  const tried = options.all ? codes : ['de', 'kh', 'fi', 'ru', 'lt', 'en'];
  const done = tried.map((code) => expectWork(`locale-${code}`, wave1, EXPECTED[code] ?? 'green'));
  verified = merge(wave1, done.map((one) => one.commit).filter(Boolean));

  const names = expectWork('locale-names', verified, 'scope → green');
  const guard = expectWork('locale-guard', verified, 'green');
  const rename = expectWork('rename-lookup', verified, 'green');
  const audit = expectWork('locale-audit', verified, 'green');
  for (const { first, second, id } of [
    { first: rename, second: audit, id: 'locale-audit' },
    { first: audit, second: rename, id: 'rename-lookup' },
  ]) {
    const both = gate(full, 'mainline', merge(verified, [first.commit, second.commit]), [
      ...first.changed,
      ...second.changed,
    ]);
    say(both.red === 'typecheck', `merged together, ${id} last, they are red`, both.red);
    const ejected = { cause: 'ejected', why: 'Red on the mainline.', log: both.log };
    const again = expectWork(id, first.commit, 'green', ejected);
    const alone = work(id, first.commit);
    say(
      alone.history.join(' → ') === 'typecheck → green',
      `${id} from that tree, told nothing: ${alone.history.join(' → ')}`,
    );
    const after = merge(verified, [first.commit, again.commit, names.commit, guard.commit]);
    const readme = expectWork('locale-readme', after, 'green');
    const end = gate(full, 'wave', readme.commit, readme.changed);
    say(end.red === null, 'the last integration point is green', end.seconds + end.log.slice(-3000));
  }
} finally {
  if (options.keep) console.log(`kept: ${top}`);
  else rmSync(top, { recursive: true, force: true });
}
console.log(failed === 0 ? 'All is as it should be.' : `${failed} not as it should be.`);
process.exit(failed === 0 ? 0 : 1);
