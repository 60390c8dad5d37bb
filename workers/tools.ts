/** The agents' tools, with the store behind them. */
import type { ToolPort } from '../gateway/index.ts';
import { addDecision, addFlag, addLogEntry, addScopeRequest, listLogEntries, takeNotices } from '../store/index.ts';
import type { Pool } from '../store/index.ts';

/** @param readInterface signatures of a file on the verified line, by whoever can read the hub */
export function storeTools(db: Pool, readInterface: ToolPort['readInterface']): ToolPort {
  return {
    readInterface,
    async readLog({ run }, limit) {
      const entries = await listLogEntries(db, run, { limit });
      return entries.map(({ atMs, kind, task, message }) => ({ atMs, kind, task, text: message }));
    },
    addLog: ({ run, task }, key, kind, text) =>
      addLogEntry(db, { run, key: `agent/${key}`, kind, task: task === '' ? null : task, message: text }),
    flagFile: (caller, path, why) => addFlag(db, caller, { path, why }),
    askForScope: (caller, key, paths, note) => addScopeRequest(db, caller, { key, paths, note }),
    decide: ({ run, task, attempt }, decision) =>
      addDecision(db, run, { ...decision, owner: task === '' ? 'planner' : `${task}/${attempt}` }),
    takeNotices: ({ run, task }) => takeNotices(db, run, task),
  };
}
