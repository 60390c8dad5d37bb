import { afterEach, describe, expect, test } from '@jest/globals';
import { okResult, taskOf, world, writes } from './fixture.ts';
import type { World } from './fixture.ts';
import type { Reviewer } from '../../../spec/model.ts';

const TEST = "test('total', () => { render(); });\n";
const REVIEWERS: Reviewer[] = (['transcript', 'diff', 'tree'] as const).map((sees) => ({
  engine: 'claude-code',
  model: 'opus',
  sees,
}));
const approve = '```json\n{"verdict": "approve"}\n```';
const reject =
  'I looked at it.\n```json\n{"verdict": "reject", "findings": [{"severity": "blocking", "file": "src/a.ts", "line": 1, "text": "Wrong total."}]}\n```';

let open: World;
afterEach(() => open?.close());

const start = async (answers: (step: string) => string | { exitCode: number }, agent = 1): Promise<string> => {
  const files = { 'src/a.ts': 'export const total = 2;\n', 'test/a.test.ts': TEST };
  open = await world(
    { 'src/a.ts': 'export const total = 1;\n', 'other.txt': 'not of this task\n' },
    { gate: {}, tasks: [writes('a', files)], reviewers: REVIEWERS, answers },
  );
  return okResult(await open.agent('a', agent)).commit;
};
const review = (commit: string, reviewer: number, call = 1) =>
  open.perform(() =>
    open.activities.runReview({ run: 'run-1', task: 'a', attempt: 1, commit, base: open.base, reviewer, call }),
  );
const prompt = (name: string): string => open.store.artifacts.get(`a/1/${name}.prompt.md`)!;

describe('a review', () => {
  test('each sees its own view and no other, in a workspace that fits it, through a socket of its own', async () => {
    const commit = await start(() => approve);
    expect(await Promise.all([0, 1, 2].map((reviewer) => review(commit, reviewer)))).toEqual(
      Array.from({ length: 3 }, () => ({ verdict: 'approve' })),
    );
    const [transcript, diff, tree] = ['review-1', 'review-2', 'review-3'].map(prompt) as [string, string, string];
    expect(transcript).toContain('wrote src/a.ts'); // the engine has no transcript: its output stands for it
    expect(transcript).not.toContain('total = 2');
    expect(open.shown.get('review-1')).toEqual(['other.txt', 'src']);
    expect(diff).toContain('-export const total = 1;\n+export const total = 2;');
    expect(diff).toMatch(/test\/a\.test\.ts\n```+diff\nnew file \(100644\)/);
    expect(tree).toContain('export const total = 2;');
    expect(tree).not.toMatch(/total = 1|not of this task/);
    expect(open.shown.get('review-3')).toEqual(['other.txt', 'src', 'test']);
    for (const shown of [diff, tree]) expect(shown).toContain('test/a.test.ts:1: "total" asserts nothing');
    expect(transcript).not.toContain('asserts nothing');
    expect(open.seats.toSorted()).toEqual(['reviewer review-1', 'reviewer review-2', 'reviewer review-3']);
  });

  test('of the transcript is shown what the worker’s engine says that it did, which is kept also when the attempt is red', async () => {
    const tasks = [taskOf('a', { mayBeEmpty: true }), taskOf('b')];
    const answers = (step: string): string => (step === 'agent' ? 'I skipped the second criterion.' : approve);
    open = await world({ 'src/a.ts': '' }, { gate: {}, tasks, reviewers: REVIEWERS, engine: 'claude-code', answers });
    const { commit } = okResult(await open.agent('a'));
    await review(commit, 0);
    expect(prompt('review-1')).toContain('says: I skipped the second criterion.');
    expect(await open.agent('b')).toMatchObject({ ok: false, cause: 'nothing-done' });
    expect(JSON.parse(open.store.artifacts.get('b/1/steps.json')!)).toEqual([
      { kind: 'message', text: 'I skipped the second criterion.' },
    ]);
  });

  test('of a later attempt marks which findings about earlier ones it followed: by line, or the file where there is none', async () => {
    const at = (file: string, line: number | null): object => ({ severity: 'major', file, line, text: 'Wrong.' });
    const findings = [
      at('src/a.ts', 2),
      at('src/a.ts', 40),
      at('src/b.ts', null),
      at('src/c.ts', 1),
      at('src/d.ts', null),
    ];
    const said = JSON.stringify({ verdict: 'reject', findings });
    const long = Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join('');
    const files = { 'src/a.ts': long, 'src/b.ts': 'b\n', 'src/c.ts': 'c\n', 'src/d.ts': 'd\n' };
    const later = { ...files, 'src/a.ts': long.replace('line 0', 'another'), 'src/b.ts': 'bb\n', 'src/c.ts': null };
    const script = [files, later].map((put: Record<string, string | null>) => ({
      edits: Object.entries(put).map(([path, content]) => ({ path, content })),
      waitMs: 0,
      exitCode: 0,
    }));
    const tasks = [taskOf('a', { script })];
    open = await world({ 'src/x.ts': '' }, { gate: {}, tasks, reviewers: REVIEWERS, answers: () => said });
    await review(okResult(await open.agent('a')).commit, 1);
    expect(open.store.followed).toEqual([]);
    const { commit } = okResult(await open.agent('a', 2));
    await open.perform(() =>
      open.activities.runReview({ run: 'run-1', task: 'a', attempt: 2, commit, base: open.base, reviewer: 0, call: 1 }),
    );
    expect(open.store.followed).toEqual(['1: 1.0', '1: 1.2', '1: 1.3']);
  });

  test('a verdict that stands is not asked for again', async () => {
    const commit = await start(() => reject);
    expect(await review(commit, 1)).toEqual({ verdict: 'reject' });
    expect(await review(commit, 1, 2)).toEqual({ verdict: 'reject' });
    expect(open.started.filter((step) => step.includes('review'))).toEqual(['agent review-2']);
    expect(open.store.given.get('a/1')).toMatchObject([
      { reviewer: 1, view: 'diff', engine: 'claude-code', model: 'opus', calls: 1, ms: 7, verdict: { findings: [{ file: 'src/a.ts' }] } },
    ]); // prettier-ignore
  });

  test('an answer that cannot be read goes back with every problem, and then counts', async () => {
    const commit = await start((step) => (step === 'review-2' ? '{"verdict": "perhaps"}' : approve));
    expect(await review(commit, 1)).toEqual({ verdict: 'approve' });
    expect(prompt('review-2')).not.toContain('could not be read');
    expect(prompt('review-2-2')).toMatch(/Your last answer could not be read[\s\S]*`verdict`/);
    expect(open.seats).toEqual(['reviewer review-2', 'reviewer review-2']);
  });

  test('one that stays unreadable is missing after three answers, and is asked anew at the second call', async () => {
    const commit = await start((step) => (step === 'review-2-4' ? approve : 'I like it.'));
    expect(await review(commit, 1)).toEqual({ verdict: null });
    expect(open.store.given.get('a/1')).toMatchObject([{ verdict: null, calls: 1 }]);
    expect(await review(commit, 1)).toEqual({ verdict: null });
    expect(open.started.filter((step) => step.includes('review'))).toHaveLength(3);
    expect(await review(commit, 1, 2)).toEqual({ verdict: 'approve' });
  });

  test('a reviewer whose agent fails gives no verdict, and says why', async () => {
    const commit = await start(() => ({ exitCode: 1 }));
    expect(await review(commit, 0)).toEqual({ verdict: null });
    expect(open.store.given.get('a/1')).toMatchObject([{ verdict: null, why: expect.stringContaining('code 1') }]);
  });
});
