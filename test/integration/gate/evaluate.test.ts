/** A suite that no agent sees, in real containers. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { okResult, RUN, taskOf, world } from './fixture.ts';
import type { World } from './fixture.ts';

const SECRET = 'the-hidden-suite-was-here';
const FILES = { 'src/a.js': 'module.exports = (n) => n + 1;\n', 'hidden/check.js': 'console.log("0 of 0 passed");\n' };
const SUITE = {
  run: 'node hidden/check.js',
  files: {
    'hidden/check.js': `// ${SECRET}\nconst a = require('../src/a.js');\nconsole.log([a(1) === 2, a(2) === 4].filter(Boolean).length + ' of 2 passed');\nprocess.exit(1);\n`,
  },
  score: '(\\d+) of \\d+ passed',
  timeMs: 20_000,
};

/** Every file below a folder whose bytes contain the text. */
const holding = (dir: string, text: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter(
      (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path).includes(text),
    );

describe('an evaluation', () => {
  let at: World;
  afterEach(() => at.close());
  const evaluate = (n: number, commit: string) =>
    new MockActivityEnvironment().run(() => at.activities.evaluate({ run: RUN, n, commit }));

  test('scores a green point by files of its own, red or not, once', async () => {
    at = await world(FILES, { gate: {}, tasks: [], evaluate: SUITE });
    expect(await evaluate(1, at.base)).toEqual({ score: 1 });
    expect(await evaluate(1, at.base)).toEqual({ score: 1 });
    expect(at.started).toEqual(['verify evaluation-1']);
    expect(await at.deps.store.evaluations(RUN)).toEqual([
      expect.objectContaining({
        n: 1,
        commit: at.base,
        ok: true,
        score: 1,
        tail: expect.stringContaining('1 of 2 passed'),
      }),
    ]);
  });

  test('says why there is no score, and has no network', async () => {
    at = await world(FILES, { gate: {}, tasks: [], evaluate: { ...SUITE, run: 'sleep 30', timeMs: 1_000 } });
    expect(await evaluate(1, at.base)).toEqual({ score: null });
    Object.assign((await at.deps.store.spec(RUN)).evaluate!, {
      run: 'ls /sys/class/net | grep -vc lo; exit 0',
      score: null,
      timeMs: 20_000,
    });
    expect(await evaluate(2, at.base)).toEqual({ score: 0 });
    const tails = (await at.deps.store.evaluations(RUN)).map(({ ok, tail }) => `${ok} ${tail}`);
    expect(tails[0]).toContain('The deadline of 1000 ms passed');
  });

  test('is seen by no agent and no gate: in no container but its own, no tree, no log', async () => {
    const look = `grep -rl 'the-hidden-[s]uite' / --include=* --exclude-dir=proc --exclude-dir=sys 2>/dev/null; env; cat hidden/check.js; cat > src/b.js`;
    at = await world(FILES, {
      gate: { test: `! grep -r 'the-hidden-[s]uite' . && cat hidden/check.js` },
      engine: 'command',
      tasks: [taskOf('t1', { run: ['sh', '-c', look] })],
      evaluate: SUITE,
    });
    await evaluate(0, at.base);
    const measuring = evaluate(1, at.base);
    const { commit } = okResult(await at.agent('t1'));
    expect(await at.taskGate('t1', commit)).toMatchObject({ outcome: 'green' });
    await measuring;
    expect([...at.store.artifacts].filter(([, content]) => content.includes('hidden-suite'))).toEqual([]);
    expect(at.store.artifacts.get('t1/1/agent.log')).toContain('0 of 0 passed');
    // What the agent was given is on standard input, which it kept.
    expect(await at.file(commit, 'src/b.js')).toContain('"t1"');
    expect(await at.file(commit, 'src/b.js')).not.toContain('hidden-suite');
    const objects = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch'], {
      cwd: at.hub.dir,
      encoding: 'latin1',
    });
    expect(objects).toContain('0 of 0 passed');
    expect(objects).not.toContain('hidden-suite');
    // Nothing of it stays on the host either.
    expect(holding(at.deps.stateDir, 'hidden-suite')).toEqual([]);
  });
});
