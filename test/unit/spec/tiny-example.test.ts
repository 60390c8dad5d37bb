import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { validateSpec } from '../../../spec/validate.ts';

const directory = mkdtempSync(join(tmpdir(), 'swarmline-tiny-'));
const repository = join(directory, 'shop');
let files: string[] = [];
let raw: { repository: { url: string } };

const prepare = new URL('../../../examples/tiny/prepare.mjs', import.meta.url).pathname;

beforeAll(() => {
  execFileSync(process.execPath, [prepare, repository, '--spec', `${repository}.json`]);
  files = execFileSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' }).split('\0').filter(Boolean);
  raw = JSON.parse(readFileSync(`${repository}.json`, 'utf8')) as typeof raw;
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('the tiny example is five tasks in two waves without a problem or a warning', () => {
  const checked = validateSpec(raw, { files });
  expect(checked.problems).toEqual([]);
  expect(checked.warnings).toEqual([]);
  expect(raw.repository.url).toBe(`file://${repository}`);
  expect(checked.spec?.tasks.map((task) => [task.id, task.dependsOn.length > 0])).toEqual([
    ['group-thousands', false],
    ['add-slug', false],
    ['rename-qty', false],
    ['link-report', true],
    ['export-all', true],
  ]);
});

it('the scripts that its gate runs are protected', () => {
  expect(validateSpec(raw, { files }).spec?.repository.protected).toEqual(
    expect.arrayContaining(['tools/lint.mjs', 'tools/build.mjs']),
  );
});

it('its repository is the same commit every time', () => {
  const again = join(directory, 'again');
  const head = (cwd: string): string => execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' });
  execFileSync(process.execPath, [prepare, again]);
  expect(head(again)).toBe(head(repository));
});

it('its gate turns red on a half-done rename and names the file that was missed', () => {
  const run = (env: Record<string, string>, ...argv: string[]): { code: number; output: string } => {
    try {
      const output = execFileSync(process.execPath, argv, {
        cwd: repository,
        encoding: 'utf8',
        stdio: 'pipe',
        env: { PATH: process.env['PATH'] ?? '', ...env },
      });
      return { code: 0, output };
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return { code: status, output: stdout + stderr };
    }
  };
  run({}, 'tools/rename-qty.mjs');
  const red = run({}, '--test');
  expect(red.code).toBe(1);
  expect(red.output).toContain('src/report.mjs');
});
