/** Tells people: a command of the operator's, or a webhook. Both come from the spec's author, never from an agent or a repository. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { NotifyMessage, RecordDeps } from '../activities/records.ts';

const TIMEOUT_MS = 30_000;
/** What a notification command inherits; secrets of the worker stay with it. */
const INHERITED = ['PATH', 'HOME', 'LANG'] as const;

/** The message as JSON on the command's standard input and in SWARMLINE_MESSAGE, and as the webhook's body. Throws what is to be tried again. */
export const notify: RecordDeps['notify'] = async ({ run, webhook }, message) => {
  if (run !== null) await command(run, message);
  if (webhook !== null) {
    const response = await fetch(webhook, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The webhook answered ${response.status}`);
  }
};

async function command([program, ...args]: readonly string[], message: NotifyMessage): Promise<void> {
  if (program === undefined) return;
  const inherited = Object.fromEntries(
    INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const running = promisify(execFile)(program, args, {
    timeout: TIMEOUT_MS,
    env: {
      ...inherited,
      SWARMLINE_RUN: message.run,
      SWARMLINE_EVENT: message.event,
      SWARMLINE_TEXT: message.text,
      SWARMLINE_MESSAGE: JSON.stringify(message),
    },
  });
  running.child.stdin?.on('error', () => undefined); // a command need not read it
  running.child.stdin?.end(JSON.stringify(message));
  await running;
}
