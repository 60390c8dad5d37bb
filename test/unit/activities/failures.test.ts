import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { createHostActivities } from '../../../activities/host.ts';
import { asFailure } from '../../../activities/running.ts';
import { EngineInputError, UnknownEngine } from '../../../engines/index.ts';
import { HubError } from '../../../mainline/errors.ts';
import { GitError } from '../../../mainline/git.ts';
import { HubUnreachable } from '../../../mainline/hub-request.ts';
import {
  ImageMissing,
  InfrastructureFault,
  ServiceFailed,
  SetupFailed,
  WorkspaceTooSmall,
} from '../../../sandbox/faults.ts';

const seen = (error: unknown): unknown => {
  const failure = asFailure(error) as ApplicationFailure;
  return [failure.type, failure.nonRetryable];
};

describe('what an error of a sandbox host means to Temporal', () => {
  test('a fault of the host, the hub or git is retried and counts as no attempt', () => {
    const faults = [
      new InfrastructureFault('lost'),
      new HubUnreachable('away'),
      new HubError('no such commit'),
      new GitError(['x'], 'signal', null, 'SIGKILL', ''),
      new ServiceFailed('db', 'not ready'),
    ];
    for (const fault of faults) expect(seen(fault)).toEqual(['Infrastructure', false]);
  });

  test('what only a person can change is not retried', () => {
    expect(seen(new ImageMissing('x', 'no registry'))).toEqual(['SandboxSetup', true]);
    expect(seen(new SetupFailed('exit 1', '/x'))).toEqual(['SandboxSetup', true]);
    expect(seen(new WorkspaceTooSmall('full'))).toEqual(['SandboxSetup', true]);
    expect(seen(new UnknownEngine('aider', ['command']))).toEqual(['EngineInput', true]);
    expect(seen(new EngineInputError('no run'))).toEqual(['EngineInput', true]);
  });

  test('a bug of ours stays what it is', () => {
    const bug = new TypeError('x is undefined');
    expect(asFailure(bug)).toBe(bug);
  });
});

test('freeze, thaw and stop pass on how many containers they acted on', async () => {
  const calls: unknown[][] = [];
  const act =
    (name: string, n: number) =>
    (...args: unknown[]): Promise<number> => {
      calls.push([name, ...args]);
      return Promise.resolve(n);
    };
  const host = createHostActivities({
    sandbox: { freeze: act('freeze', 3), thaw: act('thaw', 2), stop: act('stop', 1) },
  });
  expect([
    await host.freeze({ run: 'r' }),
    await host.thaw({ run: 'r' }),
    await host.stop({ run: 'r', task: 't' }),
  ]).toEqual([3, 2, 1]);
  expect(calls).toEqual([
    ['freeze', 'r'],
    ['thaw', 'r'],
    ['stop', 'r', 't'],
  ]);
});
