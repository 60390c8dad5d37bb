/** The agents' tools, with the store behind them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, ToolPort } from '../gateway/index.ts';
import {
  addDecision,
  addFlag,
  addLogEntry,
  addScopeRequest,
  listLogEntries,
  loadScopeRequest,
  takeNotices,
} from '../store/index.ts';
import type { Pool } from '../store/index.ts';
import type { ScopeRequested } from '../workflows/protocol.ts';

/** For as long an agent waits for an answer that policy gives; a person takes longer. */
const ANSWER_MS = 15_000;

/**
 * @param readInterface signatures of a file on the verified line, by whoever can read the hub
 * @param scopeRequested tells the run of a request for more files
 */
export function storeTools(
  db: Pool,
  readInterface: ToolPort['readInterface'],
  scopeRequested: (caller: Caller, asked: Omit<ScopeRequested, 'task'>) => Promise<void>,
): ToolPort {
  return {
    readInterface,
    async readLog({ run }, limit) {
      const entries = await listLogEntries(db, run, { limit });
      return entries.map(({ atMs, kind, task, message }) => ({ atMs, kind, task, text: message }));
    },
    addLog: ({ run, task }, key, kind, text) =>
      addLogEntry(db, { run, key: `agent/${key}`, kind, task: task === '' ? null : task, message: text }),
    flagFile: (caller, path, why) => addFlag(db, caller, { path, why }),
    async askForScope(caller, key, paths, note) {
      await addScopeRequest(db, caller, { key, paths, note });
      await scopeRequested(caller, { request: key, paths, note });
      for (const deadline = Date.now() + ANSWER_MS; Date.now() < deadline; await delay(500)) {
        const asked = await loadScopeRequest(db, caller.run, key);
        if (asked === null || asked.answer !== null)
          return asked === null || asked.state === 'open' ? null : asked.answer;
      }
      return null;
    },
    decide: ({ run, task, attempt }, decision) =>
      addDecision(db, run, { ...decision, owner: task === '' ? 'planner' : `${task}/${attempt}` }),
    takeNotices: ({ run, task }) => takeNotices(db, run, task),
  };
}
