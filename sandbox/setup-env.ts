/** What a setup container's tools are told: where to cache, whom to trust, which scripts not to run; and what the worker lends them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setup } from '../spec/model.ts';
import type { Mount } from './types.ts';

const CA_TARGET = '/etc/swarmline/ca.pem';
const CACHE_TARGET = '/cache';

/**
 * The worker's variables that setup may see: those named in SWARMLINE_SETUP_ENV (separated by commas or spaces), by name only; nothing by
 * default. `npm_config_registry` may also come from the host's ~/.npmrc. No later container gets them.
 */
export function setupEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const lent: Record<string, string> = {};
  for (const name of (env['SWARMLINE_SETUP_ENV'] ?? '').split(/[\s,]+/)) {
    const value = env[name] ?? (name === 'npm_config_registry' ? npmrcRegistry(env['HOME']) : undefined);
    if (name !== '' && value !== undefined) lent[name] = value;
  }
  return lent;
}

function npmrcRegistry(home: string | undefined): string | undefined {
  const path = join(home ?? '/root', '.npmrc');
  if (!existsSync(path)) return undefined;
  return /^\s*registry\s*=\s*(\S+)/m.exec(readFileSync(path, 'utf8'))?.[1];
}

/** Environment and mounts of the setup container. `cache` is a directory that goes with it. */
export function setupSurroundings(
  setup: Setup,
  caBundle: string | null,
  cache: string,
): { env: Record<string, string>; mounts: Mount[] } {
  const env: Record<string, string> = {
    XDG_CACHE_HOME: CACHE_TARGET,
    npm_config_cache: `${CACHE_TARGET}/npm`,
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    PIP_CACHE_DIR: `${CACHE_TARGET}/pip`,
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  };
  if (!setup.installScripts) {
    env['npm_config_ignore_scripts'] = 'true';
    env['YARN_ENABLE_SCRIPTS'] = 'false';
    env['PIP_ONLY_BINARY'] = ':all:'; // a source distribution runs its setup.py
  }
  const mounts: Mount[] = [{ source: cache, target: CACHE_TARGET, readOnly: false }];
  if (caBundle !== null && existsSync(caBundle)) {
    mounts.push({ source: caBundle, target: CA_TARGET, readOnly: true });
    const trusting = [
      'NODE_EXTRA_CA_CERTS',
      'SSL_CERT_FILE',
      'PIP_CERT',
      'REQUESTS_CA_BUNDLE',
      'CURL_CA_BUNDLE',
      'CARGO_HTTP_CAINFO',
      'GIT_SSL_CAINFO',
    ];
    for (const name of trusting) env[name] = CA_TARGET;
  }
  return { env, mounts };
}
