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
import { repositoryGit } from '../../lib/repository-git.mjs';
import { PACKAGE } from './download.mjs';

/** Taken from the package. Left out: what was built from the source, and benchmarks that need a package which nothing else does. */
const TAKEN = ['src', 'LICENSE', 'README.md'];
const LEFT_OUT = ['src/v3/benchmarks'];
/** Fields of the package's own manifest that its source and tests rely on (the tests import the package by its name). */
const MANIFEST = ['name', 'version', 'type', 'license', 'sideEffects', 'exports'];

/** A fixed author and time make the commit ids the same everywhere. */
const WHO = { name: 'Swarmline demonstration', email: 'demonstration@swarmline.invalid', date: '2025-01-01T00:00:00Z' };
/** Setting of the repository: digest of everything that it was made from. */
const MADE_FROM = 'swarmline.madeFrom';
const gitIn = (directory) => repositoryGit(directory, WHO);

/** A user's mistake: the directory holds something else. */
export class NotOurs extends Error {}

/** Changes nothing when `out` was made from the same inputs; moves aside what was made from others. */
export async function makeRepository({ out, tarball, template }) {
  const made = digest(template);
  if (existsSync(out)) {
    const before = await gitIn(out).readSetting(MADE_FROM);
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
    await build(work, tarball, template, made);
    rmSync(out, { recursive: true, force: true });
    renameSync(`${work}/repository`, out);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function build(work, tarball, template, made) {
  const dir = `${work}/repository`;
  mkdirSync(dir);
  execFileSync('tar', ['-xzf', tarball, '-C', work, '--no-same-owner']);
  for (const path of TAKEN) cpSync(`${work}/package/${path}`, `${dir}/${path}`, { recursive: true });
  for (const path of LEFT_OUT) rmSync(`${dir}/${path}`, { recursive: true, force: true });
  const published = JSON.parse(readFileSync(`${work}/package/package.json`, 'utf8'));
  const own = Object.fromEntries(MANIFEST.map((field) => [field, published[field]]));
  writeFileSync(`${dir}/package.json`, json(own));

  const git = gitIn(dir);
  await git.init();
  await git.commitAll(`${PACKAGE.name} ${PACKAGE.version}: the source as published\n\n${PACKAGE.integrity}`);

  cpSync(template, dir, { recursive: true });
  renameSync(`${dir}/gitignore`, `${dir}/.gitignore`);
  const ours = JSON.parse(readFileSync(`${template}/package.json`, 'utf8'));
  writeFileSync(`${dir}/package.json`, json({ ...own, ...ours }));
  await git.commitAll('Add the tools of the demonstration and what its gate runs');
  await git.setting(MADE_FROM, made);
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
