import { describe, expect, test } from '@jest/globals';
import { ConfigError, defaultSlots, loadWorkerConfig } from '../../../workers/config.ts';

const GOOD = {
  DATABASE_URL: 'postgres://localhost/x',
  SWARMLINE_HUB_TOKEN: 'a-token-of-enough-length',
  SWARMLINE_STATE: '/nowhere',
};

describe('the configuration of a worker', () => {
  test('every problem is told at once', () => {
    const load = () =>
      loadWorkerConfig('sandbox', {
        SWARMLINE_STATE: '/nowhere',
        SWARMLINE_SLOTS: 'many',
        SWARMLINE_HUB_URL: 'not a url',
        SWARMLINE_METRICS_PORT: '70000',
      });
    expect(load).toThrow(ConfigError);
    for (const name of [
      'DATABASE_URL',
      'SWARMLINE_SLOTS=many',
      'SWARMLINE_HUB_URL',
      'SWARMLINE_HUB_TOKEN',
      'SWARMLINE_METRICS_PORT=70000',
    ]) {
      expect(load).toThrow(expect.objectContaining({ message: expect.stringContaining(name) }));
    }
  });

  test('on one machine the mirror is the hub itself; elsewhere, or when told so, a host keeps mirrors', () => {
    expect(loadWorkerConfig('sandbox', GOOD).localHubRoot).toBe('/nowhere/hubs');
    expect(
      loadWorkerConfig('sandbox', { ...GOOD, SWARMLINE_HUB_URL: 'http://hub.example:7423' }).localHubRoot,
    ).toBeNull();
    expect(loadWorkerConfig('sandbox', { ...GOOD, SWARMLINE_HUB_LOCAL: '0' }).localHubRoot).toBeNull();
  });

  test('each role has a metrics port of its own', () => {
    const ports = (['orchestrator', 'mainline', 'sandbox', 'gateway'] as const).map(
      (role) => loadWorkerConfig(role, { ...GOOD, SWARMLINE_METRICS_PORT: '9000' }).metricsPort,
    );
    expect(ports).toEqual([9000, 9001, 9002, 9003]);
  });

  test('slots by default: one and a half a core, as far as memory holds', () => {
    expect(defaultSlots(2, 24 * 1024 ** 3)).toBe(3);
    expect(defaultSlots(64, 8 * 1024 ** 3)).toBe(6);
    expect(defaultSlots(1, 1024 ** 3)).toBe(1);
  });
});
