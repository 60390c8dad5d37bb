import { describe, expect, it } from '@jest/globals';
import { isTestPath, suspicionLog, suspiciousTests } from '../../../spec/suspicious-tests.ts';

const js = (text: string): string[] => suspiciousTests('a.test.ts', text).map(({ test, why }) => `${test}: ${why}`);
const py = (text: string): string[] => suspiciousTests('test_a.py', text).map(({ test, why }) => `${test}: ${why}`);

describe('tests in JavaScript and TypeScript', () => {
  it('that assert nothing are found', () => {
    expect(js(`it('runs', () => { run(); });`)).toEqual(['runs: asserts-nothing']);
    expect(js(`test('forgot the matcher', () => { expect(run()); });`)).toEqual([
      'forgot the matcher: asserts-nothing',
    ]);
    expect(js(`test.each([1])('each', async (n) => { await run(n); });`)).toEqual(['each: asserts-nothing']);
    expect(js(`it('empty', function () {});`)).toEqual(['empty: asserts-nothing']);
  });

  it('that cannot fail are found', () => {
    for (const always of [
      `expect(true).toBe(true)`,
      `expect(1).toEqual(1)`,
      `expect(result).toBe(result)`,
      `expect('x').toBeTruthy()`,
      `expect({}).toBeDefined; expect(3).toBeDefined()`,
      `assert.equal(2, 2)`,
      `assert(true)`,
      `assert.ok(true, 'fine')`,
    ]) {
      expect(js(`it('t', () => { run(); ${always}; });`)).toEqual(['t: cannot-fail']);
    }
  });

  it('whose failure is caught are found', () => {
    expect(js(`it('t', () => { try { expect(run()).toBe(1); } catch (e) { console.log(e); } });`)).toEqual([
      't: swallows-failure',
    ]);
    expect(js(`it('t', () => { try { expect(run()).toBe(1); } catch (e) { throw e; } });`)).toEqual([]);
    expect(js(`it('t', () => { try { run(); } catch (e) { expect(e).toBe(1); } });`)).toEqual([]);
  });

  it('that do not run, or keep others from running, are found', () => {
    expect(
      js(
        `it.skip('s', () => {}); it.only('o', () => { expect(f()).toBe(1); }); describe.skip('d', () => {}); it.todo('later');`,
      ),
    ).toEqual(['s: never-runs', 'o: others-never-run', 'd: never-runs', 'later: never-runs']);
  });

  it('that check in one way or another are left alone', () => {
    for (const body of [
      `expect(f()).toBe(1)`,
      `expect(f()).toBe(f())`,
      `expect(true).not.toBe(x)`,
      `await expect(f()).rejects.toThrow()`,
      `expectTotal(f(), 3)`,
      `assert.strictEqual(f(), 1)`,
      `f().should.equal(1)`,
      `request(app).get('/').expect(200)`,
      `if (f() !== 1) throw new Error('no')`,
      `expect(true).toBe(true); expect(f()).toBe(1)`,
      `t.is(f(), 1)`,
      `cy.get('a').should('exist')`,
      `fc.assert(fc.property(fc.string(), (s) => s === s))`,
      `checkSum(f())`,
    ]) {
      expect({ body, found: js(`it('t', async () => { ${body}; });`) }).toEqual({ body, found: [] });
    }
    expect(
      js(`describe('d', () => { beforeEach(() => { f(); }); it('x', () => { expect(f()).toBe(1); }); });`),
    ).toEqual([]);
    expect(js(`iterate('x', () => { f(); }); contest('y', () => {});`)).toEqual([]);
  });
});

describe('tests in Python', () => {
  it('that assert nothing, cannot fail, swallow a failure or never run are found', () => {
    expect(
      py(`
def test_nothing():
    run()

def test_always():
    assert True

def test_tuple():
    assert (run() == 1, "message")

def test_same():
    assert x == x

class TestA(TestCase):
    def test_equal(self):
        self.assertEqual(1, 1)

    def test_swallows(self):
        try:
            self.assertEqual(run(), 1)
        except Exception:
            pass

@pytest.mark.skip(reason="later")
def test_skipped():
    assert run()
`),
    ).toEqual([
      'test_nothing: asserts-nothing',
      'test_always: cannot-fail',
      'test_tuple: cannot-fail',
      'test_same: cannot-fail',
      'test_equal: cannot-fail',
      'test_swallows: swallows-failure',
      'test_skipped: never-runs',
    ]);
  });

  it('that check in one way or another are left alone', () => {
    expect(
      py(`
def test_a():
    assert run() == 1

def test_b():
    with pytest.raises(ValueError):
        run()

def test_c(self):
    self.assertEqual(run(), run())

def test_d():
    check_total(run())

def test_e():
    if run() != 1:
        raise AssertionError

def test_f():
    try:
        run()
    except ValueError:
        pass
    assert done

def helper():
    run()

def test_g():
    def test_inner():
        run()
    assert test_inner() is None

@pytest.mark.skipif(sys.platform == "win32", reason="x")
def test_h():
    assert run()
`),
    ).toEqual([]);
  });
});

it('every find has its line, and broken or other text has none', () => {
  const found = suspiciousTests('a.test.js', `\n\nit('x', () => {});\n`);
  expect(found[0]?.line).toBe(3);
  expect(suspicionLog(found)).toBe('a.test.js:3: "x" asserts nothing: it passes unless something throws');
  for (const text of ['', 'it(', '}{', '\u0000', "it('x', () => {", 'def test_(']) {
    expect(Array.isArray(suspiciousTests('a.test.ts', text))).toBe(true);
    expect(Array.isArray(suspiciousTests('test_a.py', text))).toBe(true);
  }
  expect(suspiciousTests('a.go', "it('x', () => {});")).toEqual([]);
});

it('paths of tests are known by the usual names', () => {
  for (const path of [
    'test/a.ts',
    'src/a.test.ts',
    'src/__tests__/a.js',
    'tests/test_a.py',
    'a_test.py',
    'lib/a.spec.js',
  ])
    expect(isTestPath(path)).toBe(true);
  for (const path of ['src/a.ts', 'src/contest.py', 'latest/a.ts']) expect(isTestPath(path)).toBe(false);
});
