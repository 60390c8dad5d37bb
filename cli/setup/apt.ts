/** Debian packages: may we install any, and installing them. */
import { readFile } from 'node:fs/promises';
import { MissingError } from '../exit.ts';
import { CommandFailed, run, which } from './exec.ts';

/** Is this a Debian or Ubuntu (or something like them) by /etc/os-release? */
export function isDebianLike(osRelease: string): boolean {
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(osRelease);
}

/** Root on Debian or Ubuntu with apt-get: packages can be installed. */
export async function canInstall(): Promise<boolean> {
  if (process.getuid?.() !== 0 || (await which('apt-get')) === null) return false;
  return isDebianLike(await readFile('/etc/os-release', 'utf8').catch(() => ''));
}

/** What a person would type to install these packages. */
export const installCommand = (packages: readonly string[]): string =>
  `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;

const LOCK_WAIT = ['-o', 'DPkg::Lock::Timeout=300'];

/** Installs packages; the package lists are only fetched when the installed ones do not suffice. */
export async function install(packages: readonly string[], onLine: (line: string) => void): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const command = ['apt-get', ...LOCK_WAIT, 'install', '-y', '--no-install-recommends', ...packages];
  try {
    await run(command, { env, onLine });
  } catch {
    try {
      await run(['apt-get', ...LOCK_WAIT, 'update'], { env, onLine });
      await run(command, { env, onLine });
    } catch (error) {
      throw new MissingError(
        {
          what: `apt-get could not install ${packages.join(', ')}.`,
          why:
            error instanceof CommandFailed ? error.outputTail.trim().split('\n').slice(-5).join('\n') : String(error),
          command: installCommand(packages),
        },
        { cause: error },
      );
    }
  }
}
