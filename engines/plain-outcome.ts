/** The outcome of a program that has no transcript: its exit code and the end of its output say all. */
import { agentEnd } from '../spec/gate/ends.ts';
import { stripAnsi } from '../spec/gate/signature.ts';
import type { EngineOutcome, EngineRun } from './engine.ts';

/** Characters of output that are quoted in `why`. */
const QUOTED = 600;

export function plainOutcome(run: EngineRun): EngineOutcome {
  const meaning = agentEnd(run.end, run.exitCode);
  const lastMessage = stripAnsi(run.output).trim();
  const nothing = { lastMessage, reads: [], writes: [], usage: null };
  const quoted = lastMessage === '' ? 'It printed nothing.' : `It ended with: ${lastMessage.slice(-QUOTED)}`;
  switch (meaning) {
    case 'ok':
      return { ok: true, cause: null, why: '', ...nothing };
    case 'agent-failed':
      return {
        ok: false,
        cause: meaning,
        why: `The command ${run.end === 'start-failed' ? 'could not be started' : `exited with code ${run.exitCode ?? '?'}`}. ${quoted}`,
        ...nothing,
      };
    case 'agent-timeout':
      return { ok: false, cause: meaning, why: `The command was stopped at its deadline. ${quoted}`, ...nothing };
    case 'agent-oom':
      return {
        ok: false,
        cause: meaning,
        why: `The command used more memory than it was given. ${quoted}`,
        ...nothing,
      };
    case 'agent-disk-full':
      return { ok: false, cause: meaning, why: `The command filled the disk that it was given. ${quoted}`, ...nothing };
    case 'infrastructure':
    case 'stopped':
      throw new Error(`An engine cannot judge a container that ended "${run.end}".`);
  }
}
