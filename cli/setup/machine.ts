/** Everything that this machine must have before anything can run, made or installed where it is missing. */
import { createProgress } from '../progress.ts';
import type { Progress } from '../progress.ts';
import { loadSettings } from './settings.ts';
import type { Settings } from './settings.ts';

export type Want = 'temporal' | 'postgres' | 'docker' | 'image';

export interface MachineOptions {
  /** Leave to install packages and start an engine. */
  readonly yes: boolean;
  readonly want?: readonly Want[];
  readonly progress?: Progress;
  readonly settings?: Settings;
}

export interface Machine {
  /** Path of the Temporal CLI; null when it was not wanted. */
  readonly temporal: string | null;
}

/**
 * Makes sure of what is wanted, in the order in which it is asked for least often: throws MissingError at the first that
 * cannot be had. `postgres` starts nothing: it checks that the binaries are there and can run.
 */
export async function ensureMachine({
  yes,
  want = ['temporal', 'postgres', 'docker', 'image'],
  progress = createProgress(),
  settings = loadSettings(process.env),
}: MachineOptions): Promise<Machine> {
  let temporal: string | null = null;
  if (want.includes('docker') || want.includes('image')) {
    const [{ ensureDocker }, { ensureImage }] = await Promise.all([import('./docker.ts'), import('./image.ts')]);
    const { docker } = await ensureDocker(settings, { yes, progress });
    if (want.includes('image')) await ensureImage(docker, { cacheDir: settings.cacheDir, yes, progress });
  }
  if (want.includes('postgres') && settings.given.databaseUrl === null) {
    const { postgresFiles } = await import('./postgres-files.ts');
    await postgresFiles(settings);
  }
  if (want.includes('temporal')) {
    const { ensureTemporal } = await import('./temporal.ts');
    temporal = await ensureTemporal(settings, { yes, progress });
  }
  return { temporal };
}
