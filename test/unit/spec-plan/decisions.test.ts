import { describe, expect, it } from '@jest/globals';
import {
  brokenReferences,
  clashes,
  decisionIdProblem,
  decisionReferences,
  interfacesMeet,
  reconcileTask,
  referenceReport,
  sameSubject,
  standingFor,
  supersede,
} from '../../../spec/plan/index.ts';
import { answer, context, decision, planned, problems, task } from './fixture.ts';

/** As code writes it; taken apart, so that this file refers to nothing. */
const ref = (id: string): string => `${['swarm', 'decision'].join(':')} ${id}`;

describe('two decisions', () => {
  it('are about the same subject whatever the order, number and filler of its words', () => {
    expect(sameSubject('Format of money amounts', 'the money amount format')).toBe(true);
    expect(sameSubject('errorHandling', 'how we handle: Error handling')).toBe(false);
    expect(sameSubject('error handling', 'errorHandling')).toBe(true);
    expect(sameSubject('format of dates', 'format of money')).toBe(false);
    expect(sameSubject('the', 'of')).toBe(false);
  });

  it('overlap where an interface of one is, or is part of, an interface of the other', () => {
    expect(interfacesMeet('Orders.cancel(id: string)', '`Orders.cancel`')).toBe(true);
    expect(interfacesMeet('Orders', 'Orders.cancel()')).toBe(true);
    expect(interfacesMeet('Order', 'Orders.cancel()')).toBe(false);
    expect(interfacesMeet('GET /orders/:id', 'GET  /orders/{key}/')).toBe(true);
    expect(interfacesMeet('GET /orders', 'GET /orders/{id}')).toBe(false);
    expect(interfacesMeet('Map<string>', 'Map<number>')).toBe(true);
    expect(interfacesMeet('', '')).toBe(false);
  });

  it('that clash are found, superseded ones aside', () => {
    const all = [
      decision('a', { subject: 'money', interfaces: ['Money'] }),
      decision('b', { subject: 'dates', interfaces: ['Money.add'], owner: 'shop' }),
      decision('c', { subject: 'Money', owner: 'bill' }),
      decision('d', { subject: 'money', supersededBy: 'c' }),
    ];
    expect(clashes(all)).toEqual([
      { a: 'a', b: 'b', owners: ['', 'shop'], why: 'interfaces', names: ['Money'] },
      { a: 'a', b: 'c', owners: ['', 'bill'], why: 'subject', names: [] },
    ]);
  });
});

describe('a clash', () => {
  const all = [decision('a', { subject: 'money' }), decision('b', { subject: 'money', owner: 'shop' })];

  it('becomes a task that names both and may change what refers to them; always the same one', () => {
    const [clash] = clashes(all);
    const made = reconcileTask(clash!, all, ['src/a.ts', 'src/[id].ts']);
    expect(made).toMatchObject({
      id: 'reconcile-a-b',
      kind: 'reconcile',
      role: 'reconciler',
      files: { allow: ['src/a.ts', 'src/\\[id\\].ts'] },
    });
    expect(made.goal).toContain('`a` of the first planner, about money: So.');
    expect(made).toEqual(reconcileTask(clash!, all, ['src/a.ts', 'src/[id].ts']));
    expect(() => reconcileTask(clash!, all, [])).toThrow(RangeError);
  });

  it('has a safe id however long the names are', () => {
    const ids = ['x'.repeat(63), `${'x'.repeat(62)}y`].map((id) => {
      const { id: made } = reconcileTask({ ...clashes(all)[0]!, a: id }, all, ['a']);
      expect(made).toMatch(/^[a-z0-9][a-z0-9._-]{0,62}$/);
      return made;
    });
    expect(new Set(ids).size).toBe(2);
  });
});

describe('superseding', () => {
  it('changes no decision but leads on from it, in circles neither', () => {
    const first = [decision('v1')];
    const second = supersede(first, { ...decision('v2'), owner: 'x' }, 'v1');
    const third = supersede(second, decision('v3'), 'v2');
    expect(first[0]?.supersededBy).toBeNull();
    expect(third.map((one) => one.supersededBy)).toEqual(['v2', 'v3', null]);
    expect(supersede(first, decision('other'), null).map((one) => one.supersededBy)).toEqual([null, null]);
    expect(standingFor(third, 'v1')?.id).toBe('v3');
    expect(standingFor(third, 'nothing')).toBeNull();
    const circle = [decision('a', { supersededBy: 'b' }), decision('b', { supersededBy: 'a' })];
    expect(standingFor(circle, 'a')).not.toBeNull();
  });

  it('is the owner’s, or a planner’s above', () => {
    const decisions = [decision('v1', { subject: 'money', owner: 'shop' })];
    const answer = { decisions: [{ id: 'v2', subject: 'money', text: 'Now so.', supersedes: 'v1' }] };
    expect(problems(answer, { decisions })).toEqual([
      expect.stringMatching(/^decisions\[0\]\.supersedes: "v1" belongs to shop/),
    ]);
    expect(problems(answer, { decisions, overrules: ['shop'] })).toEqual([]);
    expect(problems(answer, { decisions: [decision('v1', { owner: 'core', supersededBy: 'x' })] })).toEqual([
      expect.stringMatching(/is superseded already/),
    ]);
  });
});

describe('a decision in an answer', () => {
  const decisions = [decision('money', { subject: 'format of money', owner: 'shop', interfaces: ['Money'] })];
  const own = { id: 'amounts', subject: 'Money format', text: 'Floats.' };

  it('that decides what another decides is sent back, with its owner', () => {
    expect(problems({ decisions: [own] }, { decisions })).toEqual([
      expect.stringMatching(/^decisions\[0\]\.subject: "amounts" decides what "money" of shop decides/),
    ]);
    expect(problems({ decisions: [{ ...own, subject: 'x', interfaces: ['Money.of'] }] }, { decisions })).toEqual([
      expect.stringMatching(/^decisions\[0\]\.interfaces: .*\(the interfaces Money\)/),
    ]);
    expect(problems({ decisions: [own, { ...own, id: 'again' }] })).toEqual([
      expect.stringMatching(/"amounts" of you decides/),
    ]);
  });

  it('may stand beside the other where a reconcile task names both', () => {
    const tasks = [
      task('join', { kind: 'reconcile', goal: 'Bring the decisions money and amounts together: one must go.' }),
    ];
    expect(problems({ decisions: [own], tasks }, { decisions })).toEqual([]);
  });

  it('has an id that nobody has taken', () => {
    expect(problems({ decisions: [{ ...own, id: 'money', subject: 'z' }] }, { decisions })).toEqual([
      expect.stringMatching(/^decisions\[0\]\.id: "money" is decided already, by shop/),
    ]);
    expect(decisionIdProblem('a-b.c')).toBeNull();
    for (const id of ['', 'A', 'a_b', 'a-', '-a', 'x'.repeat(64)]) expect(decisionIdProblem(id)).not.toBeNull();
  });

  it('is there when a task is sent to it', () => {
    const to = (id: string) => ({ tasks: [task('a', { goal: `Follow ${ref(id)} in src/a.ts.` })] });
    expect(problems(to('money'), { decisions })).toEqual([]);
    expect(problems(to('mony'), { decisions })).toEqual([
      expect.stringMatching(/there is not \(did you mean "money"\?\)/),
    ]);
    const old = [decision('v1', { supersededBy: 'v2' }), decision('v2')];
    expect(problems(to('v1'), { decisions: old })).toEqual([
      expect.stringMatching(/refers to "v1", which "v2" supersedes/),
    ]);
  });
});

describe('references in code', () => {
  it('are found in comments of any language, with their lines', () => {
    const text = `// ${ref('money-cents')}.\n# ${ref('a')}\n<!-- ${ref('b')}-->\n/* ${ref('C.d')}, ${ref('e')} */\nswarm:decision\n`;
    expect(decisionReferences(text)).toEqual([
      { id: 'money-cents', line: 1 },
      { id: 'a', line: 2 },
      { id: 'b', line: 3 },
      { id: 'c.d', line: 4 },
      { id: 'e', line: 4 },
    ]);
  });

  it('to what is missing or superseded make the gate red, and say what to follow now', () => {
    const decisions = [decision('v1', { supersededBy: 'v2' }), decision('v2', { subject: 'money' })];
    const files = [
      { path: 'a.ts', text: `\n// ${ref('v1')}` },
      { path: 'b.ts', text: `// ${ref('v2')}\n// ${ref('v22')}` },
    ];
    const broken = brokenReferences(files, decisions);
    expect(broken.map(({ path, why }) => `${path} ${why}`)).toEqual(['a.ts superseded', 'b.ts missing']);
    expect(referenceReport(broken)).toBe(
      'a.ts:2: error: the decision "v1" was superseded: follow "v2" (money) and refer to it\n' +
        'b.ts:2: error: there is no decision "v22" (did you mean "v2"?)',
    );
    expect(referenceReport([])).toBe('');
  });

  it('to a decision that nobody knows are no mistake of whoever changes a file that named it before', () => {
    const text = `// ${ref('v0')}\n// ${ref('v9')}\n`;
    const known = [decision('v1', { supersededBy: 'v2' }), decision('v2')];
    const ids = (before?: string) =>
      brokenReferences([{ path: 'a.ts', text, ...(before === undefined ? {} : { before }) }], known).map(
        ({ id }) => id,
      );
    expect(ids()).toEqual(['v0', 'v9']);
    expect(ids(`# ${ref('V0')}.`)).toEqual(['v9']);
    expect(brokenReferences([{ path: 'a.ts', text: ref('v1'), before: ref('v1') }], known)).toHaveLength(1);
  });
});

describe('superseding a decision', () => {
  const text = 'Whole euros.';
  const mine = { decisions: [decision('money-cents', { subject: 'format of money', owner: context().node.id })] };
  const superseding = (more: object) =>
    answer({
      decisions: [{ id: 'money-euros', subject: 'format of money', text, supersedes: 'money-cents' }],
      ...more,
    });
  const following = task('follow', {
    files: { allow: ['lib/*.ts'] },
    goal: 'Make lib/ follow swarm:decision money-euros.',
  });
  const referring = new Map([['money-cents', ['lib/a.ts', 'lib/b.ts', 'src/types/money.ts']]]);
  const told = (more: object, where: object = {}): string[] =>
    problems(superseding({ tasks: [], integration: [], ...more }), { ...mine, referring, ...where });

  it('comes with tasks, or scopes, for the files that follow the old one', () => {
    expect(told({ tasks: [following] })).toEqual([
      'decisions[0].supersedes: files that landed refer to "money-cents", and no task may change them: src/types/money.ts; plan tasks that make them follow the new decision',
    ]);
    expect(told({ tasks: [following] }, { referring: new Map([['money-cents', ['lib/a.ts']]]) })).toEqual([]);
    const scopes = [{ id: 'lib', goal: 'lib/ follows money-euros.', files: ['lib/**', 'src/types/**'] }];
    expect(told({ scopes })).toEqual([]);
  });

  it('counts tasks of the plan that are not closed, and no file of another planner', () => {
    const lib = planned('lib', { files: { allow: ['lib/**', 'src/types/**'], forbid: [] }, started: true });
    expect(told({}, { tasks: [lib] })).toEqual([]);
    expect(told({}, { tasks: [{ ...lib, closed: true }] })).toHaveLength(1);
    expect(told({}, { node: { id: '', depth: 0, files: ['src/print/**'] } }).join()).not.toContain('lib/a.ts');
  });
});
