import { describe, expect, test } from '@jest/globals';
import {
  describeError,
  EXIT,
  FailedError,
  formatExplanation,
  MissingError,
  QuietExit,
  UserError,
} from '../../../cli/exit.ts';

describe('how a command ends', () => {
  test('each kind of error has its exit code', () => {
    const what = { what: 'x' };
    expect(describeError(new FailedError(what)).exitCode).toBe(1);
    expect(describeError(new UserError(what)).exitCode).toBe(2);
    expect(describeError(new MissingError(what)).exitCode).toBe(3);
    expect(describeError(new QuietExit(EXIT.missing))).toEqual({ exitCode: 3, text: null });
  });

  test('an explanation says what happened, why, and every command to type', () => {
    expect(
      formatExplanation({ what: 'No git.', why: 'line 1\nline 2', command: ['apt-get update', 'apt-get install git'] }),
    ).toBe(
      ['No git.', '  why:  line 1', '        line 2', '  type: apt-get update', '        apt-get install git'].join(
        '\n',
      ),
    );
  });

  test('an error of our own is called that, with its stack', () => {
    const { exitCode, text } = describeError(new TypeError('oops'));
    expect(exitCode).toBe(1);
    expect(text).toMatch(/defect of swarmline[\s\S]*TypeError: oops[\s\S]*exit\.test/);
  });
});
