/** What a tool is given: its Task Spec and, after a red attempt, the log of what went wrong. Never the number of the attempt. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** @returns {Promise<{task: object | null, lastFailure: null | {cause: string, why: string, log: string}}>} */
export async function readTask() {
  let text = '';
  if (!process.stdin.isTTY) for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text.trim() === '' ? { task: null, lastFailure: null } : JSON.parse(text);
}

/** Everything that was said about the last failure, without colours: the reason, then the log. '' where there was none. */
export function failureText(lastFailure) {
  if (lastFailure === null) return '';
  const file = process.env.SWARMLINE_FAILURE_LOG;
  const whole = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
  // eslint-disable-next-line no-control-regex
  return `${lastFailure.why}\n${lastFailure.log}\n${whole}`.replace(/\u001b\[[0-9;]*m/g, '');
}

/** Compiler diagnostics in a log: `path(line,column): error TSnnnn: message`, without repetitions. */
export function diagnostics(text) {
  const found = new Map();
  for (const [line, file, code, message] of text.matchAll(/^(\S+?)\(\d+,\d+\): error (TS\d+): (.*)$/gm)) {
    found.set(line, { file, code, message });
  }
  return [...found.values()];
}

/** What `oxlint --format unix` found: `path:line:column: message [severity/rule]`. */
export function lintFindings(text) {
  return [...text.matchAll(/^(\S+?):\d+:\d+: (.*) \[\w+\/(\S+)\]$/gm)].map(([, file, message, rule]) => ({
    file,
    message,
    rule,
  }));
}

/** Test files that a log names as failed. */
export function failedTests(text) {
  return [...new Set([...text.matchAll(/FAIL\s+(?:\|?\w+\|?\s+)?(\S+\.test\.ts)/g)].map(([, file]) => file))];
}

export function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.log(`wrote ${path}`);
}

/** A tool that cannot do its work says why and fails: an attempt without a result, not a wrong result. */
export function giveUp(why) {
  console.error(why);
  process.exit(1);
}
