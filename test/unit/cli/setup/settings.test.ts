import { describe, expect, test } from '@jest/globals';
import { UserError } from '../../../../cli/exit.ts';
import { instanceName, localEnvironment } from '../../../../cli/setup/local-env.ts';
import { loadSettings, parsePort } from '../../../../cli/setup/settings.ts';
import { serverArguments, temporalUi } from '../../../../cli/setup/temporal-server.ts';

describe('settings from the environment', () => {
  test('defaults are below the home directory and on the known ports', () => {
    const settings = loadSettings({ HOME: '/home/a' });
    expect(settings.stateDir).toBe('/home/a/.local/state/swarmline');
    expect(settings.cacheDir).toBe('/home/a/.cache/swarmline');
    expect(settings.ports).toEqual({ temporal: 7233, temporalUi: 8233, postgres: 54_320, hub: 7423, metrics: 9464 });
  });

  test('XDG folders and our own variables win, and an empty variable counts as unset', () => {
    const env = { HOME: '/h', XDG_STATE_HOME: '/xs', SWARMLINE_CACHE: '/c', TEMPORAL_ADDRESS: '' };
    const settings = loadSettings(env);
    expect([settings.stateDir, settings.cacheDir, settings.given.temporalAddress]).toEqual([
      '/xs/swarmline',
      '/c',
      null,
    ]);
  });

  test('every port can be moved, and the UI moves with its server', () => {
    const { ports } = loadSettings({
      SWARMLINE_TEMPORAL_PORT: '7500',
      SWARMLINE_POSTGRES_PORT: '5',
      SWARMLINE_HUB_URL: 'http://127.0.0.1:99/',
      SWARMLINE_METRICS_PORT: '65532',
    });
    expect(ports).toEqual({ temporal: 7500, temporalUi: 8500, postgres: 5, hub: 99, metrics: 65_532 });
  });

  test.each(['0', '65536', '-1', '1e3', ' 80', 'http'])('%p is refused as a port', (text) => {
    expect(() => parsePort('P', text, 1)).toThrow(UserError);
  });

  test('the last of several ports must exist too', () => {
    expect(() => parsePort('SWARMLINE_METRICS_PORT', '65534', 9464, 3)).toThrow(/3 ports in a row/);
  });

  test('an address of a hub that is none is refused with one that works', () => {
    expect(() => loadSettings({ SWARMLINE_HUB_URL: 'localhost:7423' })).toThrow(/export SWARMLINE_HUB_URL=http/);
  });
});

describe('what workers and commands get to see', () => {
  test('what was given stays, what is ours is filled in, and nothing has to run for it', () => {
    const given = { HOME: '/nowhere', PATH: '/bin', DATABASE_URL: 'postgres://elsewhere/db' };
    const env = localEnvironment(loadSettings(given), given);
    expect(env).toMatchObject({
      ...given,
      TEMPORAL_ADDRESS: '127.0.0.1:7233',
      SWARMLINE_HUB_URL: 'http://127.0.0.1:7423',
    });
    expect(env['DOCKER_HOST']).toBeUndefined();
  });

  test('an engine at a socket of its own is passed on', () => {
    const given = { HOME: '/nowhere', SWARMLINE_DOCKER_SOCKET: '/x/docker.sock' };
    expect(localEnvironment(loadSettings(given), given)['DOCKER_HOST']).toBe('unix:///x/docker.sock');
  });

  test('two state folders on one machine never share containers', () => {
    expect(instanceName('/a')).not.toBe(instanceName('/b'));
  });
});

describe('the Temporal server that we start', () => {
  test('keeps its database in the state folder and uses the measured settings', () => {
    const line = serverArguments(loadSettings({ SWARMLINE_STATE: '/s', SWARMLINE_TEMPORAL_PORT: '7500' })).join(' ');
    expect(line).toContain('--db-filename /s/temporal/temporal.db');
    expect(line).toContain('--port 7500 --ui-port 8500');
    expect(line).toContain('--sqlite-pragma journal_mode=WAL');
    expect(line).toContain('system.enableActivityEagerExecution=true');
    expect(line).not.toContain('--namespace');
  });

  test('a namespace of its own is made, and a given server has no UI that we know', () => {
    expect(serverArguments(loadSettings({ TEMPORAL_NAMESPACE: 'n' })).slice(-2)).toEqual(['--namespace', 'n']);
    expect(temporalUi(loadSettings({ TEMPORAL_ADDRESS: 'h:7233' }))).toBeNull();
  });
});
