import { describe, expect, jest, test } from '@jest/globals';
import { startArguments, whereToLook } from '../../../../cli/demo.ts';
import { doctorLines } from '../../../../cli/doctor.ts';
import { downLines, warning } from '../../../../cli/down.ts';
import { main } from '../../../../cli/program.ts';
import { loadSettings } from '../../../../cli/setup/settings.ts';
import { sum, tallyJest } from '../../../../cli/test.ts';
import { upLines } from '../../../../cli/up.ts';

describe('test', () => {
  const report = (passed: number, failed: number, broken: number): string =>
    JSON.stringify({
      success: failed + broken === 0,
      numPassedTests: passed,
      numFailedTests: failed,
      numRuntimeErrorTestSuites: broken,
    });

  test('counts what passed and failed, a file that did not start among the failed', () => {
    expect(tallyJest(report(5, 0, 0), 0)).toEqual({ passed: 5, failed: 0 });
    expect(tallyJest(report(5, 2, 1), 1)).toEqual({ passed: 5, failed: 3 });
  });

  test('a run that left no report, or a wrong one, or failed for another reason is never green', () => {
    expect(tallyJest(null, 0)).toEqual({ passed: 0, failed: 1 });
    expect(tallyJest('{"half', 1)).toEqual({ passed: 0, failed: 1 });
    expect(tallyJest('{}', 0)).toEqual({ passed: 0, failed: 1 });
    expect(tallyJest(report(5, 0, 0), 134)).toEqual({ passed: 5, failed: 1 });
  });

  test('sums up', () => {
    expect(
      sum([
        { passed: 1, failed: 0 },
        { passed: 2, failed: 3 },
      ]),
    ).toEqual({ passed: 3, failed: 3 });
    expect(sum([])).toEqual({ passed: 0, failed: 0 });
  });
});

describe('up, down and doctor', () => {
  test('up says of each service whether it was there', () => {
    const report = { temporal: 'started', postgres: 'given', workers: { sandbox: 'already running' } } as const;
    expect(upLines(report, 'http://ui')).toEqual([
      'Temporal: started',
      'Postgres: given',
      'sandbox worker: runs already',
      'Temporal UI: http://ui',
    ]);
  });

  test('down says how many attempts will have to be repeated, and nothing when there is none', () => {
    expect([warning(null), warning(0)]).toEqual([null, null]);
    expect(warning(1)).toBe('1 attempt is running; it will have to be repeated.');
    expect(warning(7)).toBe('7 attempts are running; they will have to be repeated.');
  });

  test('down says what it stopped and where the data are, also when there was nothing', () => {
    const settings = loadSettings({ SWARMLINE_STATE: '/s' });
    const where = 'Data are kept in /s; the Docker engine is left as it is.';
    expect(downLines([{ name: 'Temporal', result: 'not running' }], settings)).toEqual(['Nothing was running.', where]);
    expect(
      downLines(
        [
          { name: 'Temporal', result: 'stopped' },
          { name: 'Postgres', result: 'killed' },
        ],
        settings,
      ),
    ).toEqual(['Temporal: stopped', 'Postgres: did not stop in time and was killed', where]);
  });

  test('doctor puts what to type below what is missing', () => {
    expect(
      doctorLines([
        { name: 'git', state: 'present', detail: '2.39' },
        { name: 'engine', state: 'missing', detail: 'not installed', command: ['a', 'b'] },
      ]),
    ).toEqual(['ok      git     2.39', 'MISSING engine  not installed', '        type: a', '              b']);
  });
});

describe('demo', () => {
  test('starts the run as anybody would, and never on top of another', () => {
    const line = startArguments({ id: 'demo-1', specFile: '/s.json' }, { address: 'h:1', namespace: 'n' }).join(' ');
    expect(line).toMatch(
      /^workflow start --type runSpec --task-queue swarmline --workflow-id demo-1 --input-file \/s\.json --fail-existing/,
    );
    expect(line).toMatch(/--address h:1 --namespace n$/);
  });

  test('ends with the commands to see the commits', () => {
    const lines = whereToLook({ id: 'demo-1', repository: '/r', specFile: '/s', branch: 'swarmline/x' }, 'http://ui/x');
    expect(lines.join('\n')).toMatch(
      /git -C \/r log --oneline --graph swarmline\/x[\s\S]*status demo-1[\s\S]*http:\/\/ui\/x/,
    );
  });
});

describe('the command line', () => {
  test.each([
    ['an unknown command', ['nonsense'], 2],
    ['an unknown option', ['up', '--nonsense'], 2],
    ['a missing argument', ['watch'], 2],
    ['help', ['--help'], 0],
    ['a version', ['--version'], 0],
  ])('%s exits as it should', async (_, argv, code) => {
    const silent = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write').mockReturnValue(true));
    try {
      expect(await main(['node', 'swarmline', ...argv])).toBe(code);
    } finally {
      for (const spy of silent) spy.mockRestore();
    }
  });
});
