/** A planner's answer judged and laid into the plan; decisions brought together; requests for more files: on a real hub and a real database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAnswerScope } from '../../../activities/answer-scope.ts';
import { rawSpecPath } from '../../../activities/admit-task.ts';
import type { AdmissionDeps } from '../../../activities/admission-deps.ts';
import { createReconcileDecisions } from '../../../activities/reconcile-decisions.ts';
import { createTakePlan } from '../../../activities/take-plan.ts';
import { writeFile } from 'node:fs/promises';
import { DEFAULT_PRICES } from '../../../spec/prices.ts';
import { validateSpec } from '../../../spec/validate.ts';
import {
  addDecision, addPlanNode, addScopeRequest, listDecisions, listPlanNodes, loadPlan, loadPlanAnswer, loadPlanScore, loadScopeRequest, loadTask, saveRun, savePlanAnswer,
  saveTasks, setTaskStates,
} from '../../../store/index.ts'; // prettier-ignore
import type { Pool } from '../../../store/index.ts';
import { startCluster } from '../store/cluster.ts';
import type { Cluster } from '../store/cluster.ts';
import { world } from './fixture.ts';

let cluster: Cluster;
let db: Pool;
let origin: Awaited<ReturnType<typeof world>>;
let deps: AdmissionDeps;
let count = 0;
let run: string;
beforeAll(async () => {
  cluster = await startCluster();
  db = await cluster.database();
});
afterAll(async () => cluster.stop());

const FILES = {
  'src/a.js': '// swarm:decision money-cents\nexport const a = 1;\n',
  'src/b.js': '// swarm:decision amounts\nexport const b = 2;\n',
  'docs/x.md': 'x\n',
};
const raw = (more: object = {}): Record<string, unknown> => ({
  name: 'shop',
  goal: 'The shop keeps accounts.',
  repository: { url: 'file:///nowhere', branch: 'main' },
  gate: { lint: 'skip', typecheck: 'skip', test: 'true', build: 'skip' },
  sandbox: { image: 'swarmline/agents:1' },
  roles: { worker: { engine: 'codex', model: 'gpt-5' }, planner: { engine: 'claude-code', model: 'claude-opus-4-8' } },
  tasks: [
    { id: 'given', goal: 'Write docs/x.md anew.', files: { allow: ['docs/x.md'] }, acceptance: ['`x` is explained.'] },
  ],
  ...more,
});
const begin = async (more: object = {}): Promise<void> => {
  count += 1;
  origin = await world(FILES);
  run = `run-${count}`;
  deps = {
    db,
    prices: [DEFAULT_PRICES],
    hubRoot: origin.root,
    hub: async () => origin.hub,
    credential: async () => null,
  };
  const { spec, problems } = validateSpec(raw(more), { files: Object.keys(FILES) });
  expect(problems).toEqual([]);
  await saveRun(db, { id: run, spec: spec! });
  await saveTasks(db, run, spec!.tasks);
  await addPlanNode(db, run, { id: '', parent: null, depth: 0, goal: '', interface: '', files: ['**'], dependsOn: [] });
  await writeFile(rawSpecPath(origin.root, run), JSON.stringify(raw(more)));
};
beforeEach(() => begin());

const task = (id: string, more: object = {}): object => ({
  id,
  goal: `Write src/${id}.js, which exports \`${id}\`.`,
  files: { allow: [`src/${id}.js`] },
  acceptance: ['`npm test` passes.'],
  ...more,
});
const say = async (
  answer: object,
  attempt = 1,
  node = '',
): Promise<Awaited<ReturnType<ReturnType<typeof createTakePlan>>>> => {
  await savePlanAnswer(db, run, {
    node,
    attempt,
    occasion: '',
    answer: `\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``,
  });
  return createTakePlan(deps)({ run, node, attempt });
};

describe('a planner’s answer', () => {
  test('becomes part of the plan: tasks, scopes, decisions, what it is worth', async () => {
    const taken = await say({
      decisions: [{ id: 'dates', subject: 'format of dates', text: 'ISO 8601.' }],
      tasks: [task('c'), task('d')],
      scopes: [{ id: 'api', goal: 'The API answers.', files: ['api/**'], dependsOn: ['c'] }],
    });
    expect(taken).toMatchObject({
      ok: true,
      tasks: [
        { id: 'c', index: 1 },
        { id: 'd', index: 2 },
      ],
      scopes: [{ id: 'api', dependsOn: ['c'] }],
      score: [
        expect.stringContaining('3 tasks in 1 waves'),
        expect.anything(),
        expect.stringContaining('USD'),
        expect.anything(),
      ],
    });
    const plan = await loadPlan(db, run);
    expect(plan.tasks.map(({ spec, node }) => [spec.id, node])).toEqual([
      ['given', null],
      ['c', ''],
      ['d', ''],
    ]);
    expect(await listPlanNodes(db, run)).toMatchObject([
      { id: '' },
      { id: 'api', parent: '', depth: 1, files: ['api/**'] },
    ]);
    expect(await listDecisions(db, run)).toMatchObject([{ id: 'dates', owner: '' }]);
    expect(await loadPlanScore(db, run)).toMatchObject({ tasks: 3 });
  });

  test('taken twice it comes to the same', async () => {
    const first = await say({ tasks: [task('c')] });
    expect(await say({ tasks: [task('c')] })).toEqual(first);
    expect((await loadPlan(db, run)).tasks).toHaveLength(2);
  });

  test('that is wrong goes back whole, with every problem kept', async () => {
    const taken = await say({ tasks: [task('given'), task('e', { dependsOn: ['nobody'] })] });
    expect(taken).toMatchObject({ ok: false, why: expect.stringContaining('tasks[0].id: the id "given" is taken') });
    expect((await loadPlanAnswer(db, run, '', 1))?.problems).toHaveLength(2);
    expect((await loadPlan(db, run)).tasks).toHaveLength(1);
  });

  test('that is worth too little goes back', async () => {
    await begin({ planning: { refuse: { minParallelism: 3 } } });
    const chain = ['c', 'd', 'e', 'f'].map((id, i, all) =>
      task(id, { interface: `\`${id}\``, ...(i === 0 ? {} : { dependsOn: [all[i - 1]] }) }),
    );
    const integration = ['c', 'd', 'e'].map((of, i) => ({
      of,
      by: ['d', 'e', 'f'][i],
      test: `src/${['d', 'e', 'f'][i]!}.js`,
    }));
    expect(await say({ tasks: chain, integration })).toMatchObject({
      ok: false,
      why: expect.stringContaining('parallelism: is 1.25'),
    });
  });

  test('that drops a task hands its dependants to what replaces it', async () => {
    const integration = [{ of: 'big', by: 'after', test: 'src/after.js' }];
    await say({ tasks: [task('big', { interface: '`big`' }), task('after', { dependsOn: ['big'] })], integration });
    await setTaskStates(db, run, [{ id: 'big', state: 'blocked' }]);
    const taken = await say(
      {
        tasks: [task('half', { interface: '`half`' }), task('rest', { interface: '`rest`' })],
        drop: [{ task: 'big', why: 'too large', replacedBy: ['half', 'rest'] }],
        integration: ['half', 'rest'].map((of) => ({ of, by: 'after', test: 'src/after.js' })),
      },
      2,
    );
    expect(taken).toMatchObject({
      ok: true,
      changed: [{ id: 'after', dependsOn: ['half', 'rest'] }],
      dropped: [{ task: 'big' }],
    });
    expect((await loadTask(db, run, 'after'))?.spec.dependsOn).toEqual(['half', 'rest']);
  });
});

describe('decisions that decide the same', () => {
  const decide = (id: string, owner: string): Promise<unknown> =>
    addDecision(db, run, { id, subject: 'format of money', text: 'So.', interfaces: [], owner });
  const reconcile = (): Promise<readonly { id: string; dependsOn: readonly string[] }[]> =>
    createReconcileDecisions(deps)({ run });

  test('are brought together by one task over the files that follow either, after who may write them now', async () => {
    await decide('money-cents', '');
    await decide('amounts', 'given/1');
    await say({ tasks: [task('a')] });
    expect(await reconcile()).toMatchObject([
      { id: 'reconcile-money-cents-amounts', kind: 'reconcile', dependsOn: ['a'] },
    ]);
    expect(await reconcile()).toEqual([]);
    expect((await loadTask(db, run, 'reconcile-money-cents-amounts'))?.spec.files.allow.toSorted()).toEqual([
      'src/a.js',
      'src/b.js',
    ]);
  });

  test('one stands when the task has landed: what it recorded itself', async () => {
    await decide('money-cents', '');
    await decide('amounts', 'given/1');
    await reconcile();
    await decide('money', 'reconcile-money-cents-amounts/1');
    await setTaskStates(db, run, [{ id: 'reconcile-money-cents-amounts', state: 'passed' }]);
    await reconcile();
    const left = (await listDecisions(db, run)).filter(({ supersededBy }) => supersededBy === null);
    expect(left.map(({ id }) => id)).toEqual(['money']);
  });

  test('that nothing refers to need no task: the earlier stands', async () => {
    await decide('first', '');
    await decide('second', 'given/1');
    expect(await reconcile()).toEqual([]);
    expect(await listDecisions(db, run)).toMatchObject([
      { id: 'first', supersededBy: null },
      { id: 'second', supersededBy: 'first' },
    ]);
  });
});

describe('a request for more files', () => {
  const ask = async (paths: string[]): Promise<string> => {
    const key = `k-${paths.join('-').replaceAll(/\W/g, '')}`;
    await addScopeRequest(db, { run, task: 'given', attempt: 1 }, { key, paths, note: 'the type is wrong there' });
    return key;
  };
  const answer = (request: string, how: 'grant' | 'refuse' | 'task') =>
    createAnswerScope(deps)({ run, request, answer: how, note: '' });

  test('is granted where nobody else may write them', async () => {
    const key = await ask(['src/b.js']);
    expect(await answer(key, 'grant')).toMatchObject({ refused: null, task: { id: 'given' } });
    expect((await loadTask(db, run, 'given'))?.spec.files.allow).toEqual(['docs/x.md', 'src/b.js']);
    expect(await loadScopeRequest(db, run, key)).toMatchObject({
      state: 'granted',
      answer: expect.stringContaining('may change src/b.js'),
    });
    expect(await answer(key, 'refuse')).toMatchObject({ refused: expect.stringContaining('answered already') });
  });

  test('is not granted where another task may write them', async () => {
    await say({ tasks: [task('a')] });
    const key = await ask(['src/a.js']);
    expect(await answer(key, 'grant')).toMatchObject({
      refused: expect.stringContaining('"a" and "given" could run together'),
    });
    expect(await loadScopeRequest(db, run, key)).toMatchObject({ state: 'open' });
  });

  test('becomes an interface-change task, once', async () => {
    const key = await ask(['src/b.js']);
    const made = await answer(key, 'task');
    expect(made).toMatchObject({ refused: null, task: { kind: 'interface-change' } });
    expect(await answer(key, 'task')).toMatchObject({ task: { id: (made as { task: { id: string } }).task.id } });
    expect(await answer('nothing', 'refuse')).toMatchObject({ refused: expect.stringContaining('no agent') });
  });
});
