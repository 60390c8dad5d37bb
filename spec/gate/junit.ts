/** JUnit XML as the common runners write it (vitest, jest-junit, pytest, surefire, gotestsum, cargo-nextest). */
import type { TestReport, TestStatus } from './report.ts';

const SEPARATOR = ' › ';

interface OpenCase {
  name: string;
  status: TestStatus;
}

/** A test's name is `<class, file or suite> › <name>`: stable between runs, and unique enough to subtract a baseline by. */
export function parseJunit(text: string): TestReport | null {
  const tests: OpenCase[] = [];
  const open: string[] = [];
  const suites: string[] = [];
  let current: OpenCase | null = null;
  let sawSuite = false;
  let complete = true;
  for (const tag of tags(text)) {
    if (tag === null) {
      complete = false;
      break;
    }
    if (tag.closes) {
      if (open.at(-1) === tag.name) open.pop();
      if (tag.name === 'testsuite') suites.pop();
      if (tag.name === 'testcase') current = null;
      continue;
    }
    if (!tag.selfCloses) open.push(tag.name);
    if (tag.name === 'testsuites') sawSuite = true;
    if (tag.name === 'testsuite') {
      sawSuite = true;
      if (!tag.selfCloses) suites.push(attribute(tag.body, 'name') ?? '');
    }
    if (tag.name === 'testcase') {
      const owner = attribute(tag.body, 'classname') ?? attribute(tag.body, 'file') ?? suites.at(-1) ?? '';
      const name = attribute(tag.body, 'name') ?? '';
      const opened: OpenCase = { name: [owner, name].filter((part) => part !== '').join(SEPARATOR), status: 'passed' };
      tests.push(opened);
      current = tag.selfCloses ? null : opened;
    }
    if (current !== null && (tag.name === 'failure' || tag.name === 'error')) current.status = 'failed';
    if (current !== null && tag.name === 'skipped' && current.status === 'passed') current.status = 'skipped';
  }
  if (!sawSuite) return null;
  return { tests, complete: complete && open.length === 0 };
}

interface Tag {
  readonly name: string;
  readonly body: string;
  readonly closes: boolean;
  readonly selfCloses: boolean;
}

/** Every element tag in order; null once, at the end, when the text stops inside a tag. Comments, CDATA and declarations are passed over. */
function* tags(text: string): Generator<Tag | null> {
  let at = 0;
  for (;;) {
    const start = text.indexOf('<', at);
    if (start < 0) return;
    const skipped = skipTo(text, start);
    if (skipped === -1) {
      yield null;
      return;
    }
    if (skipped > start) {
      at = skipped;
      continue;
    }
    const end = tagEnd(text, start);
    if (end < 0) {
      yield null;
      return;
    }
    const inner = text.slice(start + 1, end);
    const closes = inner.startsWith('/');
    const name = /^\/?([^\s/>]+)/.exec(inner)?.[1] ?? '';
    yield { name: name.replace(/^.*:/, ''), body: inner, closes, selfCloses: inner.endsWith('/') };
    at = end + 1;
  }
}

/** The place after a comment, CDATA section, instruction or doctype that begins at `start`; `start` itself for a tag; -1 when it never ends. */
function skipTo(text: string, start: number): number {
  const pairs: readonly [string, string][] = [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
    ['<!', '>'],
  ];
  for (const [opens, closes] of pairs) {
    if (!text.startsWith(opens, start)) continue;
    const end = text.indexOf(closes, start + opens.length);
    return end < 0 ? -1 : end + closes.length;
  }
  return start;
}

/** Attribute values may hold `>`: quotes are honoured. */
function tagEnd(text: string, start: number): number {
  let quote = '';
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] as string;
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '>') return at;
  }
  return -1;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function attribute(body: string, name: string): string | null {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(body);
  const raw = found?.[1] ?? found?.[2];
  if (raw === undefined || raw === '') return null;
  return raw.replace(/&(#x[0-9a-f]+|#[0-9]+|[a-z]+);/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity] ?? whole;
    const code = /^#x/i.test(entity) ? parseInt(entity.slice(2), 16) : parseInt(entity.slice(1), 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
