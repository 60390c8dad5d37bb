import { describe, expect, test } from '@jest/globals';
import { failedTests, parseReport } from '../../../spec/gate/report.ts';

const names = (text: string) => {
  const report = parseReport(text);
  return report === null ? null : failedTests(report);
};

describe('JUnit reports', () => {
  test('a failed and an errored test are named by class and name, a skipped one is not', () => {
    const xml = `<?xml version="1.0"?><testsuites><testsuite name="s" tests="4">
      <testcase classname="a.test.ts" name="adds &gt; 1 &#38; 2"><failure message="x > y"><![CDATA[</testcase> <failure>]]></failure></testcase>
      <testcase classname="a.test.ts" name="divides"><error/></testcase>
      <testcase classname="a.test.ts" name="waits"><skipped/></testcase>
      <testcase classname="a.test.ts" name="passes" time="0.1"/></testsuite></testsuites>`;
    expect(names(xml)).toEqual(['a.test.ts › adds > 1 & 2', 'a.test.ts › divides']);
    expect(parseReport(xml)?.complete).toBe(true);
    expect(parseReport(xml)?.tests.map((one) => one.status)).toEqual(['failed', 'failed', 'skipped', 'passed']);
  });

  test('without a class the suite gives the name', () => {
    expect(names('<testsuite name="unit"><testcase name="t"><failure/></testcase></testsuite>')).toEqual(['unit › t']);
  });

  test('a report that was cut off says so and keeps what it had', () => {
    const report = parseReport('<testsuite name="unit"><testcase name="t"><failure/></testcase><testcase name="u');
    expect(report?.complete).toBe(false);
    expect(report && failedTests(report)).toEqual(['unit › t']);
  });

  test('a comment or a declaration with markup in it is passed over', () => {
    expect(
      names('<!DOCTYPE x><testsuite name="s"><!-- <testcase name="no"><failure/> --><testcase name="t"/></testsuite>'),
    ).toEqual([]);
  });

  test('XML that is no test report, and text that is none, give null', () => {
    expect(parseReport('<html><body></body></html>')).toBeNull();
    expect(parseReport('all fine\n')).toBeNull();
    expect(parseReport('')).toBeNull();
  });
});

describe('TAP reports', () => {
  test('failures are named without their number, TODO and SKIP do not count', () => {
    expect(
      names('TAP version 13\n1..4\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c # TODO later\nok 4 - d # SKIP no db\n'),
    ).toEqual(['b']);
  });

  test('a failing subtest is named below its parent, and the parent is not named beside it', () => {
    const text = `TAP version 13
# Subtest: orders
    # Subtest: cancels
    not ok 1 - cancels
      ---
      error: 'x'
      stack: |-
        not ok 9 - not a test point
      ...
    ok 2 - ships
    1..2
not ok 1 - orders
  ---
  type: 'suite'
  ...
1..1
`;
    expect(names(text)).toEqual(['orders › cancels']);
    expect(parseReport(text)?.complete).toBe(true);
  });

  test('a parent that fails by itself is named', () => {
    expect(names('    ok 1 - child\n    1..1\nnot ok 1 - parent\n1..1\n')).toEqual(['parent']);
  });

  test('an unfulfilled plan and a bail out make a report incomplete', () => {
    expect(parseReport('1..3\nok 1 - a\n')?.complete).toBe(false);
    expect(parseReport('1..1\nok 1 - a\nBail out! no database\n')?.complete).toBe(false);
    expect(parseReport('ok 1 - a\n1..1\n')?.complete).toBe(true);
  });
});
