import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { formatOf, readSpec } from '../../../spec/read.ts';
import { validateSpec } from '../../../spec/validate.ts';

const FRONT = `---
name: shop
repository: {url: "https://example.org/shop.git"}
gate: {lint: make lint, typecheck: make typecheck, test: make test, build: make build}
sandbox: {image: "swarmline/node:22"}
roles: {worker: {engine: command}}
---
`;
const MARKDOWN = `${FRONT}
What the shop must be able to do.

## Background
More of the goal.

## Task: orders-cancel
### Goal
Add an endpoint that *cancels* an order.

### Interface
\`\`\`
POST /cancel
  → 200
\`\`\`

### Files
- \`src/orders/*/service.ts\`, the service
- src/**/cancel.ts
### Forbidden
- src/shared/**
### References
- src/orders/repository.ts
### Acceptance
- New files pass \`the linter\`.
- An order that has been shipped
  answers 4002.
### Depends on
- orders-types
### Priority
7
### Run
- node
- tools/x.mjs

## Task: orders-types
### Kind
interface-change
### Goal
Add the type.
### Files
- src/types.ts
### Acceptance
- \`tsc\` passes.
### Run
node tools/types.mjs
### Tests
- tests/types.test.ts: acceptance/types.test.ts
`;

describe('reading a spec', () => {
  it('tells the format from the name', () => {
    expect(['a.json', 'a.yaml', 'a.YML', 'a.md', 'a.txt'].map(formatOf)).toEqual([
      'json',
      'yaml',
      'yaml',
      'markdown',
      null,
    ]);
  });

  it('an empty file is no spec', () => {
    for (const format of ['json', 'yaml', 'markdown'] as const)
      expect(readSpec(' \n', format).problems).toEqual([{ path: '', message: 'the file is empty' }]);
  });

  it('YAML fields know their lines, in lists and maps too', () => {
    const { raw, problems, lineOf } = readSpec(
      'name: x\ntasks:\n  - id: a\n    files:\n      allow:\n        - x\n        - y\n    tests: {"a/b.ts": c}\n',
      'yaml',
    );
    expect(problems).toEqual([]);
    expect(raw).toMatchObject({ tasks: [{ id: 'a' }] });
    expect(lineOf('name')).toBe(1);
    expect(lineOf('tasks[0].files.allow[1]')).toBe(7);
    expect(lineOf('tasks[0].tests["a/b.ts"]')).toBe(8);
    expect(lineOf('tasks[0].files.forbid[3]')).toBe(4);
    expect(lineOf('nothing')).toBe(null);
  });

  it.each([
    ['a: 1\na: 2\n', 'a field is given twice', 2],
    ['a:\n\tb: 1\n', 'tab', 2],
    ['a: [1\n', 'is not valid YAML', 2],
    ['a: 1\n---\nb: 1\n', 'several YAML documents', 2],
    ['a: *x\n', 'alias', 1],
  ])('the YAML %j is refused', (text, message, line) => {
    const { problems } = readSpec(text, 'yaml');
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.line ?? 1).toBe(line);
  });

  it('YAML aliases that grow without end are refused', () => {
    const bomb = [
      'a0: &a0 [x, x, x, x, x, x, x, x, x, x]',
      ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`),
    ].join('\n');
    expect(readSpec(bomb, 'yaml').problems).toEqual([{ path: '', message: expect.stringContaining('aliases') }]);
  });

  it('JSON says where it is broken, without quoting it', () => {
    const { raw, problems } = readSpec('{\n "credentials": "hunter2",\n "x": ]\n}', 'json');
    expect(raw).toBe(null);
    expect(problems).toEqual([{ path: '', message: 'is not valid JSON', line: 3 }]);
  });

  it('JSON fields know their lines, and doubled ones are refused', () => {
    const text = '{\n "name": "x",\n "tasks": [\n  {"id": "a"}\n ],\n "name": "y"\n}';
    const { problems, lineOf } = readSpec(text, 'json');
    expect(problems).toEqual([{ path: '', message: 'a field is given twice', line: 6 }]);
    expect(lineOf('tasks[0].id')).toBe(4);
  });
});

describe('a spec as Markdown', () => {
  it('the example in Markdown has no problem', () => {
    const { raw, problems } = readSpec(
      readFileSync(new URL('../../../examples/orders.md', import.meta.url), 'utf8'),
      'markdown',
    );
    expect(problems).toEqual([]);
    expect(validateSpec(raw, { files: null })).toMatchObject({ problems: [], warnings: [] });
  });

  it('front matter, goal and tasks become the fields that they stand for', () => {
    const { raw, problems } = readSpec(MARKDOWN, 'markdown');
    expect(problems).toEqual([]);
    expect(raw).toMatchObject({
      name: 'shop',
      goal: 'What the shop must be able to do.\n\n## Background\n\nMore of the goal.',
      tasks: [
        {
          id: 'orders-cancel',
          goal: 'Add an endpoint that *cancels* an order.',
          interface: '```\nPOST /cancel\n  → 200\n```',
          files: {
            allow: ['src/orders/*/service.ts', 'src/**/cancel.ts'],
            forbid: ['src/shared/**'],
            reference: ['src/orders/repository.ts'],
          },
          acceptance: ['New files pass `the linter`.', 'An order that has been shipped answers 4002.'],
          dependsOn: ['orders-types'],
          priority: 7,
          run: ['node', 'tools/x.mjs'],
        },
        {
          id: 'orders-types',
          kind: 'interface-change',
          run: ['node', 'tools/types.mjs'],
          tests: { 'tests/types.test.ts': 'acceptance/types.test.ts' },
        },
      ],
    });
    expect(validateSpec(raw, { files: null }).problems).toEqual([]);
  });

  it('every field knows its line', () => {
    const { lineOf } = readSpec(MARKDOWN, 'markdown');
    const line = (text: string): number => MARKDOWN.split('\n').indexOf(text) + 1;
    expect(lineOf('gate.lint')).toBe(4);
    expect(lineOf('goal')).toBe(line('What the shop must be able to do.'));
    expect(lineOf('tasks[0].files.allow[1]')).toBe(line('- src/**/cancel.ts'));
    expect(lineOf('tasks[1].kind')).toBe(line('### Kind'));
    expect(lineOf('tasks[1].files.forbid')).toBe(line('## Task: orders-types'));
  });

  it('an unknown section is refused with the nearest known one and its line', () => {
    const text = `${FRONT}\nGoal.\n\n## Task: a\n### Acceptence\n- x\n`;
    expect(readSpec(text, 'markdown').problems).toEqual([
      { path: 'tasks[0]', message: 'unknown section "Acceptence" (did you mean "Acceptance"?)', line: 12 },
    ]);
  });

  it.each([
    ['# Goal\n\ntext\n', 'starts without front matter'],
    [`${FRONT.replace('name: shop', 'name: shop\ngoal: x')}\nGoal.\n`, 'stands in the front matter'],
    [`${FRONT}\nG.\n\n## Task: a\n### Files\nsrc/a.ts\n`, 'is a list'],
    [`${FRONT}\nG.\n\n## Task: a\n### Goal\nx\n### Goal\ny\n`, 'stands twice'],
    [`${FRONT}\nG.\n\n## Task: a\n### Goal\nx\n## Notes\ny\n`, 'is no task'],
    [`${FRONT}\nG.\n\n## Task: a\n### Tests\n- just-one\n`, 'path in the repository: path in the base commit'],
    [`---\nname: [\n---\nG.\n`, 'is not valid YAML'],
  ])('%j is refused', (text, message) => {
    expect(readSpec(text, 'markdown').problems).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining(message), line: expect.any(Number) }),
    );
  });

  it('a heading at the level of tasks that is none does not swallow the task after it', () => {
    const text = `${FRONT}\nG.\n\n## Task: a\n### Goal\nx\n## Task: b\n### Goal\ny\n`;
    expect(readSpec(text, 'markdown').raw).toMatchObject({
      tasks: [
        { id: 'a', goal: 'x' },
        { id: 'b', goal: 'y' },
      ],
    });
  });
});
