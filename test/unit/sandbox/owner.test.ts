import { describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { LABEL, liveNonces } from '../../../sandbox/identity.ts';
import {
  type Owner,
  formatOwner,
  ownerState,
  ownerStateOfTag,
  ownerTag,
  parseOwner,
  thisOwner,
} from '../../../sandbox/owner.ts';
import { isOrphan } from '../../../sandbox/reap-containers.ts';

const self = thisOwner('host-a');
function ownerOf(child: ChildProcess): Owner {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  return { ...self, pid: child.pid ?? 0, start: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '' };
}

describe('the proof that an owner is gone', () => {
  test('an owner survives being written into a label and read again', () => {
    expect(parseOwner(formatOwner(self))).toEqual(self);
    expect(parseOwner(formatOwner(thisOwner('a:b c')))).toMatchObject({ host: 'a_b_c' });
    for (const text of ['', 'x', 'a:b:c:d:e', 'a:b:c:1']) expect(parseOwner(text)).toBeNull();
  });

  test('this process is itself; a living one is alive; a killed one is gone', async () => {
    expect(ownerState(self, self)).toBe('self');
    const child = spawn('sleep', ['60']);
    const owner = ownerOf(child);
    expect(ownerState(owner, self)).toBe('alive');
    expect(ownerStateOfTag(ownerTag(owner), self)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(ownerState(owner, self)).toBe('gone');
    expect(ownerStateOfTag(ownerTag(owner), self)).toBe('gone');
  });

  test('a later process with the same pid is another one', () => {
    expect(ownerState({ ...self, start: '1' }, self)).toBe('gone');
  });

  test('another boot of this host is gone; another host or pid namespace cannot be judged', () => {
    expect(ownerState({ ...self, boot: 'another' }, self)).toBe('gone');
    expect(ownerState({ ...self, host: 'host-b', boot: 'another' }, self)).toBe('unprovable');
    expect(ownerState({ ...self, pidns: '1', pid: 999_999 }, self)).toBe('unprovable');
    expect(ownerState(null, self)).toBe('unprovable');
    expect(ownerStateOfTag('nonsense', self)).toBe('unprovable');
    expect(ownerStateOfTag(ownerTag({ ...self, boot: 'another' }), self)).toBe('gone');
    expect(ownerStateOfTag(ownerTag({ ...self, host: 'host-b', pid: 999_999 }), self)).toBe('unprovable');
  });

  test('a container of this process is an orphan only when nothing here is busy with it', () => {
    const container = { State: 'running', Labels: { [LABEL.owner]: formatOwner(self), [LABEL.nonce]: 'n1' } };
    liveNonces.add('n1');
    expect(isOrphan(container, self, Date.now())).toBe(false);
    liveNonces.delete('n1');
    expect(isOrphan(container, self, Date.now())).toBe(true);
  });

  test('a container of another host goes a day after its deadline, never while paused', () => {
    const other = formatOwner({ ...self, host: 'host-b' });
    const at = (deadline: number, state = 'running') =>
      isOrphan({ State: state, Labels: { [LABEL.owner]: other, [LABEL.deadline]: String(deadline) } }, self, 10 ** 12);
    expect(at(10 ** 12 - 3600_000)).toBe(false);
    expect(at(10 ** 12 - 25 * 3600_000)).toBe(true);
    expect(at(10 ** 12 - 25 * 3600_000, 'paused')).toBe(false);
    expect(isOrphan({ State: 'running', Labels: {} }, self, 10 ** 12)).toBe(false);
  });
});
