/**
 * Finds or makes the Temporal CLI, which is also the dev server.
 *
 * In this order: SWARMLINE_TEMPORAL_BIN, PATH, our cache, the SDK's own download, `go install`.
 */
import { access, constants, copyFile, chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MissingError } from '../exit.ts';
import type { Progress } from '../progress.ts';
import { canInstall, install, installCommand } from './apt.ts';
import { askConsent } from './consent.ts';
import { CommandFailed, run, which } from './exec.ts';
import { goInstall } from './go.ts';
import { projectRoot } from './root.ts';
import type { Settings } from './settings.ts';

/** Server 1.28.0, UI 2.39.0. The last version known to install with `go install`: later ones have replace directives. */
export const TEMPORAL_VERSION = '1.4.1';
const MODULE = {
  module: `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_VERSION}`,
  // From its go.mod.
  go: [1, 24, 4],
  name: 'temporal',
} as const;
/** The oldest CLI whose dev server knows the options that we start it with. */
const OLDEST = [1, 1] as const;
/** A download of some 40 MB that takes longer than this is given up for the build from source. */
const DOWNLOAD_MS = 180_000;

export const cachedTemporal = (settings: Settings): string => join(settings.cacheDir, 'bin', 'temporal');

/** The version in `temporal --version`; null when the text is something else. */
export function parseTemporalVersion(text: string): readonly [number, number, number] | null {
  const match = /temporal version (\d+)\.(\d+)\.(\d+)/.exec(text);
  // A build from source without release flags calls itself 0.0.0-DEV.
  if (/temporal version 0\.0\.0-DEV/.test(text)) return [1, 4, 1];
  return match === null ? null : [Number(match[1]), Number(match[2]), Number(match[3])];
}

async function usable(path: string): Promise<boolean> {
  const text = await run([path, '--version'], { timeoutMs: 20_000 }).catch(() => '');
  const version = parseTemporalVersion(text);
  return version !== null && (version[0] > OLDEST[0] || (version[0] === OLDEST[0] && version[1] >= OLDEST[1]));
}

/** The Temporal CLI where it is already; null when there is none. Throws MissingError for a given path that does not work. */
export async function findTemporal(settings: Settings, env: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  const chosen = settings.given.temporalBin;
  if (chosen !== null) {
    if (await usable(chosen)) return chosen;
    throw new MissingError({
      what: `SWARMLINE_TEMPORAL_BIN=${chosen} is no Temporal CLI that works.`,
      why: `\`${chosen} --version\` failed or is older than ${OLDEST.join('.')}.`,
      command: 'unset SWARMLINE_TEMPORAL_BIN',
    });
  }
  for (const path of [await which('temporal', env), cachedTemporal(settings)]) {
    if (path === null) continue;
    const present = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (present && (await usable(path))) return path;
  }
  return null;
}

/** Lets the SDK download the CLI and takes it into the cache; false when that is impossible here. */
async function download(settings: Settings): Promise<boolean> {
  const target = cachedTemporal(settings);
  const program = join(projectRoot(), 'dist/cli/setup/sdk-download.js');
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), '.download-'));
  try {
    await run([process.execPath, program, folder, `v${TEMPORAL_VERSION}`], { timeoutMs: DOWNLOAD_MS });
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (!(await stat(path)).isFile() || !(await usable(path))) continue;
      await copyFile(path, `${target}.new`);
      await chmod(`${target}.new`, 0o755);
      await rename(`${target}.new`, target);
      return true;
    }
    return false;
  } catch (error) {
    // No way out to the internet is common and has the next way as its answer.
    if (error instanceof CommandFailed) return false;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The Temporal CLI, made when it is not there. Throws MissingError when nothing works. */
export async function ensureTemporal(
  settings: Settings,
  { yes, progress }: { yes: boolean; progress: Progress },
): Promise<string> {
  const found = await findTemporal(settings);
  if (found !== null) return found;
  const target = cachedTemporal(settings);
  const downloaded = await progress.step(`downloading the Temporal CLI ${TEMPORAL_VERSION}`, () => download(settings));
  if (downloaded) return target;
  progress.line('the Temporal CLI cannot be downloaded from here; building it from its source instead');
  if ((await which('go')) === null) {
    const offer = {
      what: 'Neither the Temporal CLI nor Go, which could build it, is on this machine.',
      commands: [installCommand(['golang-go', 'ca-certificates'])],
    };
    if (!(await canInstall())) {
      throw new MissingError({
        what: offer.what,
        why: 'Its download is not reachable either. Any of these will do.',
        command: [
          `sudo ${installCommand(['golang-go']).replace('&& ', '&& sudo ')}`,
          'export SWARMLINE_TEMPORAL_BIN=/path/to/temporal',
          'export TEMPORAL_ADDRESS=host:7233',
        ],
      });
    }
    await askConsent(offer, yes);
    await progress.step('installing Go', (note) => install(['golang-go', 'ca-certificates'], note));
  }
  try {
    await progress.step(`building the Temporal CLI ${TEMPORAL_VERSION} (some 4 minutes, once)`, (note) =>
      goInstall(MODULE, target, note),
    );
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    throw new MissingError(
      {
        what: 'The Temporal CLI could not be built from source.',
        why: error.outputTail.trim().split('\n').slice(-5).join('\n') || error.message,
        command: ['export SWARMLINE_TEMPORAL_BIN=/path/to/temporal', 'export TEMPORAL_ADDRESS=host:7233'],
      },
      { cause: error },
    );
  }
  return target;
}
