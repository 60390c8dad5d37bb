import { describe, expect, test } from '@jest/globals';
import { subtractBaseline } from '../../../spec/gate/baseline.ts';
import { agentEnd, gateEnd } from '../../../spec/gate/ends.ts';
import { STEP_ENDS } from '../../../spec/model.ts';

const report = (failed: string[], complete = true) => ({
  tests: [...failed.map((name) => ({ name, status: 'failed' as const })), { name: 'good', status: 'passed' as const }],
  complete,
});
const red = { name: 'test' as const, end: 'exited' as const, exitCode: 1 };
const record = { test: ['old one', 'old two'] };

describe('a recorded baseline', () => {
  test('failures that it knows do not make a step red', () => {
    expect(subtractBaseline(record, { ...red, report: report(['old two']) })).toEqual({
      ok: true,
      fresh: [],
      known: ['old two'],
    });
  });

  test('one failure that it does not know does', () => {
    expect(subtractBaseline(record, { ...red, report: report(['old one', 'new']) })).toMatchObject({
      ok: false,
      fresh: ['new'],
    });
  });

  test('a red step without a report, with one cut off, or with one that names no failure stays red', () => {
    expect(subtractBaseline(record, { ...red, report: null }).ok).toBe(false);
    expect(subtractBaseline(record, { ...red, report: report(['old one'], false) }).ok).toBe(false);
    expect(subtractBaseline(record, { ...red, report: report([]) }).ok).toBe(false);
  });

  test('out of memory and a timeout stay red whatever the report says', () => {
    for (const end of ['oom', 'timeout'] as const)
      expect(subtractBaseline(record, { ...red, end, exitCode: 137, report: report(['old one']) }).ok).toBe(false);
  });

  test('without a record every failure is fresh', () => {
    expect(subtractBaseline(null, { ...red, report: report(['a']) })).toEqual({ ok: false, fresh: ['a'], known: [] });
  });
});

describe('how a container ended', () => {
  test('every end has a meaning for agents and for gates, and a lost container is never a red', () => {
    const agent = Object.fromEntries(STEP_ENDS.map((end) => [end, agentEnd(end, 1)]));
    const gate = Object.fromEntries(STEP_ENDS.map((end) => [end, gateEnd(end, 1)]));
    expect(agent).toEqual({
      exited: 'agent-failed',
      oom: 'agent-oom',
      timeout: 'agent-timeout',
      killed: 'stopped',
      'engine-lost': 'infrastructure',
      'disk-full': 'agent-disk-full',
      'start-failed': 'agent-failed',
    });
    expect(gate).toMatchObject({
      exited: 'gate-red',
      oom: 'gate-oom',
      timeout: 'gate-timeout',
      'engine-lost': 'infrastructure',
    });
    expect(agentEnd('exited', 0)).toBe('ok');
    expect(gateEnd('exited', 0)).toBe('ok');
  });
});
