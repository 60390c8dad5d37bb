/** The npm package, fetched once with npm at its pinned version and integrity, kept in the cache. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';

export const PACKAGE = {
  name: 'zod',
  version: '4.6.7',
  integrity: 'sha512-g8W2D2kU6a8untc053fX1uVBKzM7yqAxW/3zwk83+6RyF2+SKOuV+c0wBDhUwzV1PaGapmZH+rmcUzPf+3CGwg==',
};

/** What the person must see to first: the message says what, why and how. */
export class MissingOnMachine extends Error {}

export function cacheDir(env = process.env) {
  return env.SWARMLINE_CACHE ?? `${env.XDG_CACHE_HOME ?? `${homedir()}/.cache`}/swarmline`;
}

/** @returns path of the tarball. @throws MissingOnMachine */
export function packageFile() {
  const file = `${PACKAGE.name}-${PACKAGE.version}.tgz`;
  const dir = `${cacheDir()}/demo`;
  const path = `${dir}/${file}`;
  if (existsSync(path) && integrityOf(path) === PACKAGE.integrity) return path;
  const fetched = `${dir}/fetch-${process.pid}`;
  mkdirSync(fetched, { recursive: true });
  try {
    const what = `${PACKAGE.name}@${PACKAGE.version}`;
    const argv = ['pack', what, '--ignore-scripts', '--silent', '--pack-destination', fetched];
    try {
      execFileSync('npm', argv, { cwd: fetched, stdio: ['ignore', 'ignore', 'pipe'], timeout: 120_000 });
    } catch (error) {
      throw new MissingOnMachine(
        `The demonstration's input could not be fetched: \`npm ${argv.join(' ')}\` failed. It needs an npm registry once.\n${String(error.stderr ?? error.message).trim()}`,
      );
    }
    const got = integrityOf(`${fetched}/${file}`);
    if (got !== PACKAGE.integrity)
      throw new MissingOnMachine(
        `The registry's ${what} is not the package that the demonstration was made for: integrity ${got} instead of ${PACKAGE.integrity}. Use another registry (npm config get registry).`,
      );
    renameSync(`${fetched}/${file}`, path);
    return path;
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

function integrityOf(path) {
  return `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
}
