/**
 * Machine-readable test reports (JUnit XML or TAP), read into one shape.
 *
 * A report only ever *names* what failed; whether a step is red is decided by its exit code. The file was written by code under
 * test, so it is untrusted: parsing is linear, never throws, and says when the report is not complete.
 */
import { parseJunit } from './junit.ts';
import { parseTap } from './tap.ts';

export type TestStatus = 'passed' | 'failed' | 'skipped';

export interface TestReport {
  readonly tests: readonly { readonly name: string; readonly status: TestStatus }[];
  /** false: the file ends in the middle (a crashed runner), or a TAP plan was not fulfilled. */
  readonly complete: boolean;
}

/** null: neither JUnit XML nor TAP. */
export function parseReport(text: string): TestReport | null {
  const start = text.replace(/^\uFEFF/, '').trimStart();
  if (start.startsWith('<')) return parseJunit(start);
  return parseTap(text);
}

/** Names of the failed tests, each once, sorted. */
export function failedTests(report: TestReport): string[] {
  return [...new Set(report.tests.filter((test) => test.status === 'failed').map((test) => test.name))].toSorted();
}
