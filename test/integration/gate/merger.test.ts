import { afterEach, expect, test } from '@jest/globals';
import { gitText } from '../../../mainline/git.ts';
import type { AgentResult, Role, TaskSpec } from '../../../spec/model.ts';
import { okResult, RUN, taskOf, world } from './fixture.ts';
import type { World } from './fixture.ts';

const LIST = 'one\ntwo\nthree\n';
const edits = (...attempts: Record<string, string | null>[]): Pick<TaskSpec, 'script'> => ({
  script: attempts.map((files) => ({
    edits: Object.entries(files).map(([path, content]) => ({ path, content })),
    waitMs: 0,
    exitCode: 0,
  })),
});
const B = taskOf('b', edits({ 'src/list.txt': 'one\ntwo of b\nthree\n', 'src/b.txt': 'b\n' }));
const C = taskOf('c', edits({ 'src/c.txt': 'c\n' }));
const WORK = { 'src/list.txt': 'one\ntwo of a\nthree\n', 'src/a.txt': 'a\n' };

let open: World;
afterEach(() => open?.close());

/** b has landed in `next`, `first` before it; a was made without them. */
async function conflicting(
  a: TaskSpec,
  first: string | null = null,
  merger: Role = { engine: 'scripted', model: null },
): Promise<Extract<AgentResult, { ok: true }>> {
  open = await world(
    { 'src/list.txt': LIST, 'src/other.txt': 'untouched\n' },
    { gate: {}, tasks: [a, B, C], merger, answers: () => '' },
  );
  const firstLanded = first === null ? 'merged' : await land('c/1', okResult(await open.agent('c')));
  expect(firstLanded).toBe('merged');
  const [mine, theirs] = [okResult(await open.agent('a')), okResult(await open.agent('b'))];
  expect(await land('b/1', theirs)).toBe('merged');
  expect(await land('a/1', mine)).toBe('conflict');
  return mine;
}
const land = async (id: string, { commit, base }: { commit: string; base: string }): Promise<string> => {
  const [task = '', attempt = ''] = id.split('/');
  const request = { id, task, attempt: Number(attempt), commit, base, engine: 'scripted', model: null, atMs: 1_000 };
  return (await open.hub.merge([request]))[0]!.kind;
};
const merge = (of: { commit: string; base: string }, attempt = 2): Promise<AgentResult> => {
  const { commit, base } = of;
  return open.perform(() =>
    open.activities.runMerge({ run: RUN, task: 'a', round: 1, attempt, of: { attempt: 1, commit, base } }),
  );
};

test('a conflict is merged on top of what landed: both sides’ clean parts are there, and the conflicting file as the merger left it', async () => {
  const merged = { 'src/list.txt': 'one\ntwo of both\nthree\n' };
  const mine = await conflicting(taskOf('a', edits(WORK, merged)));
  const { next } = await open.hub.heads();
  const result = okResult(await merge(mine));
  expect(result).toMatchObject({ base: next, changed: 1 });
  expect(await open.file(result.commit, 'src/list.txt')).toBe('one\ntwo of both\nthree\n');
  expect(await open.file(result.commit, 'src/a.txt')).toBe('a\n');
  expect(await open.file(result.commit, 'src/b.txt')).toBe('b\n');
  expect(open.store.mergers.get('a/2')).toMatchObject({ ofAttempt: 1, paths: ['src/list.txt'], merges: ['b/1'] });
  expect(await open.taskGate('a', result.commit, { base: result.base, onto: 'next', attempt: 2 })).toMatchObject({
    outcome: 'green',
  });
  expect(await land('a/2', result)).toBe('merged');
  const trailers = await gitText(open.hub.dir, ['show', '-s', '--format=%B', 'refs/swarmline/next']);
  expect(trailers).toContain('Swarmline-Request: a/2');
  expect(trailers).toContain('Swarmline-Merges: b/1');
});

test('a line that is made again keeps with whom something was merged', async () => {
  const mine = await conflicting(taskOf('a', edits(WORK, { 'src/list.txt': 'one\nboth\nthree\n' })), 'c');
  const result = okResult(await merge(mine));
  expect(await land('a/2', result)).toBe('merged');
  await open.hub.rebuild({ onto: 'main', drop: ['c/1'] });
  expect((await open.hub.line()).entries.map(({ request }) => request)).toEqual(['b/1', 'a/2']);
  expect(await gitText(open.hub.dir, ['show', '-s', '--format=%B', 'refs/swarmline/next'])).toContain(
    'Swarmline-Merges: b/1\n',
  );
});

test('is told of both tasks, both changes and the three states; the second attempt also of how the first one ended', async () => {
  const mine = await conflicting(taskOf('a', edits(WORK)), null, { engine: 'claude-code', model: 'opus' });
  expect(await merge(mine)).toMatchObject({ ok: false, cause: 'agent-failed' }); // the image has no such program
  const told = open.store.artifacts.get('a/2/prompt.md')!;
  for (const part of ['Do a.', 'Do b.', '-two\n+two of a', '-two\n+two of b', 'Change only these:\n- src/list.txt'])
    expect(told).toContain(part);
  expect(told).toMatch(/at the base:\n```+\none\ntwo\nthree/);
  expect(told).not.toContain('Earlier attempt');
  expect(open.seats).toEqual(['merger ']);
  await merge(mine, 3);
  expect(open.store.artifacts.get('a/3/prompt.md')).toContain('An earlier merge failed (agent-failed)');
});

test('it may change the conflicting files only, whatever the task’s scope is', async () => {
  const mine = await conflicting(taskOf('a', edits(WORK, { 'src/list.txt': 'x\n', 'src/other.txt': 'touched\n' })));
  expect(await merge(mine)).toMatchObject({ ok: false, cause: 'scope', why: expect.stringContaining('src/other.txt') });
});

test('leaving the file as it landed is an answer where the work brings something else', async () => {
  const mine = await conflicting(taskOf('a', edits(WORK, {})));
  const result = okResult(await merge(mine));
  expect(await open.file(result.commit, 'src/list.txt')).toBe('one\ntwo of b\nthree\n');
  expect(await open.file(result.commit, 'src/a.txt')).toBe('a\n');
});

test('where nothing else is left of the work, it has done nothing', async () => {
  const mine = await conflicting(taskOf('a', edits({ 'src/list.txt': 'one\nmine\nthree\n' }, {})));
  expect(await merge(mine)).toMatchObject({ ok: false, cause: 'nothing-done' });
});

test('what merges by now needs no agent', async () => {
  const mine = await conflicting(taskOf('a', edits(WORK, { 'src/list.txt': 'never written\n' })));
  await open.hub.rebuild({ onto: 'main', drop: ['b/1'] });
  const before = open.started.length;
  const result = okResult(await merge(mine));
  expect(open.started).toHaveLength(before);
  expect(await open.file(result.commit, 'src/list.txt')).toBe('one\ntwo of a\nthree\n');
});

test('a file that one side deleted and the other changed is a conflict like any other', async () => {
  const mine = await conflicting(
    taskOf('a', edits({ 'src/list.txt': null, 'src/a.txt': 'a\n' }, { 'src/list.txt': null })),
  );
  const result = okResult(await merge(mine));
  expect(await open.file(result.commit, 'src/list.txt')).toBeNull();
  expect(await open.file(result.commit, 'src/b.txt')).toBe('b\n');
});

test('work on a file that others moved away is a conflict where the work is, and nothing follows it elsewhere', async () => {
  const long = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('');
  const changed = long.replace('line 20', 'line of a');
  const a = taskOf('a', { files: { allow: ['src/a.txt'], forbid: [], reference: [] }, ...edits({ 'src/a.txt': changed }, { 'src/a.txt': 'kept\n' }) }); // prettier-ignore
  const b = taskOf('b', edits({ 'src/a.txt': null, 'src/moved.txt': long }));
  open = await world({ 'src/a.txt': long }, { gate: {}, tasks: [a, b], merger: { engine: 'scripted', model: null } });
  const [mine, theirs] = [okResult(await open.agent('a')), okResult(await open.agent('b'))];
  expect(await land('b/1', theirs)).toBe('merged');
  expect(await land('a/1', mine)).toBe('conflict');
  const result = okResult(await merge(mine));
  expect(open.store.mergers.get('a/2')).toMatchObject({ paths: ['src/a.txt'], merges: ['b/1'] });
  expect(await open.file(result.commit, 'src/a.txt')).toBe('kept\n');
  expect(await open.file(result.commit, 'src/moved.txt')).toBe(long);
  expect(await land('a/2', result)).toBe('merged');
});

test('a finished merge is not made again', async () => {
  const mine = await conflicting(taskOf('a', edits(WORK, { 'src/list.txt': 'both\n' })));
  const first = await merge(mine);
  const steps = open.started.length;
  expect(await merge(mine)).toEqual(first);
  expect(open.started).toHaveLength(steps);
});
