/** A git repository of two commits: the package's source as published, then our tools and gate configuration. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PACKAGE } from './download.mjs';

/** Taken from the package. Left out: what was built from the source, and benchmarks that need a package which nothing else does. */
const TAKEN = ['src', 'LICENSE', 'README.md'];
const LEFT_OUT = ['src/v3/benchmarks'];
/** Fields of the package's own manifest that its source and tests rely on (the tests import the package by its name). */
const MANIFEST = ['name', 'version', 'type', 'license', 'sideEffects', 'exports'];

/** Any fixed time: it makes the commit ids the same everywhere. */
const DATE = '2025-01-01T00:00:00Z';

/** A user's mistake: the directory holds something else. */
export class NotOurs extends Error {}

/** Changes nothing when `out` was made from the same inputs; moves aside what was made from others. */
export function makeRepository({ out, tarball, template }) {
  const made = digest(template);
  if (existsSync(out)) {
    const before = madeFrom(out);
    if (before === made) return;
    if (before === null && readdirSync(out).length > 0)
      throw new NotOurs(`${out} exists and was not made by this program. Choose another directory, or remove it.`);
    if (before !== null) {
      const aside = `${out}.before-${made.slice(0, 8)}`;
      rmSync(aside, { recursive: true, force: true });
      renameSync(out, aside);
      console.error(`${out} was made from an older version of the demonstration: moved to ${aside}.`);
    }
  }
  mkdirSync(dirname(out), { recursive: true });
  const work = mkdtempSync(join(dirname(out), `.${basename(out)}-`));
  try {
    build(work, tarball, template, made);
    rmSync(out, { recursive: true, force: true });
    renameSync(`${work}/repository`, out);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function build(work, tarball, template, made) {
  const dir = `${work}/repository`;
  mkdirSync(dir);
  execFileSync('tar', ['-xzf', tarball, '-C', work, '--no-same-owner']);
  for (const path of TAKEN) cpSync(`${work}/package/${path}`, `${dir}/${path}`, { recursive: true });
  for (const path of LEFT_OUT) rmSync(`${dir}/${path}`, { recursive: true, force: true });
  const published = JSON.parse(readFileSync(`${work}/package/package.json`, 'utf8'));
  const own = Object.fromEntries(MANIFEST.map((field) => [field, published[field]]));
  writeFileSync(`${dir}/package.json`, json(own));

  git(dir, ['init', '--quiet', '--initial-branch=main', '--template=']);
  commit(dir, `${PACKAGE.name} ${PACKAGE.version}: the source as published\n\n${PACKAGE.integrity}`);

  cpSync(template, dir, { recursive: true });
  renameSync(`${dir}/gitignore`, `${dir}/.gitignore`);
  const ours = JSON.parse(readFileSync(`${template}/package.json`, 'utf8'));
  writeFileSync(`${dir}/package.json`, json({ ...own, ...ours }));
  commit(dir, 'Add the tools of the demonstration and what its gate runs');
  git(dir, ['config', 'swarmline.madeFrom', made]);
}

function commit(dir, message) {
  git(dir, ['add', '--all', '--force', '.']);
  git(dir, ['commit', '--quiet', '--no-verify', '--message', message]);
}

function git(dir, argv) {
  const who = { NAME: 'Swarmline demonstration', EMAIL: 'demonstration@swarmline.invalid', DATE };
  const identity = Object.entries(who).flatMap(([field, value]) => [
    [`GIT_AUTHOR_${field}`, value],
    [`GIT_COMMITTER_${field}`, value],
  ]);
  return execFileSync(
    'git',
    ['-c', 'core.autocrlf=false', '-c', 'core.fileMode=true', '-c', 'commit.gpgSign=false', ...argv],
    {
      cwd: dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: '/nonexistent',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        ...Object.fromEntries(identity),
      },
    },
  );
}

function madeFrom(dir) {
  try {
    return git(dir, ['config', '--local', 'swarmline.madeFrom']).trim();
  } catch {
    return null;
  }
}

/** Of everything that decides the commits: the package, the template, this file. */
function digest(template) {
  const hash = createHash('sha256')
    .update(PACKAGE.integrity)
    .update(readFileSync(new URL(import.meta.url)));
  for (const path of readdirSync(template, { recursive: true }).map(String).toSorted()) {
    if (statSync(`${template}/${path}`).isFile()) hash.update(`${path}\0`).update(readFileSync(`${template}/${path}`));
  }
  return hash.digest('hex');
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
