/** Recorded histories: every closed workflow of some runs of a test file, one JSON file each, replayed by test/replay against today's code. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** Replaces what the directory holds of these runs: `SWARMLINE_RECORD=1 npm test -- test/integration/workflows/run`, after an intended change of workflow code. */
export async function recordHistories(client: Client, directory: string, runs: readonly string[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  const old = new RegExp(`^[a-zA-Z]+-(?:${runs.join('|')})[_.]`);
  for (const name of await readdir(directory)) if (old.test(name)) await rm(join(directory, name));
  for await (const { workflowId, runId, type } of client.workflow.list({ query: "ExecutionStatus != 'Running'" })) {
    if (!runs.some((run) => workflowId === run || workflowId.startsWith(`${run}:`) || workflowId.startsWith(`${run}/`)))
      continue;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const name = `${type}-${workflowId.replaceAll(/[^\w.-]/g, '_')}.json`;
    await writeFile(
      join(directory, name),
      `${JSON.stringify({ workflowId, history: JSON.parse(historyToJSON(history)) })}\n`,
    );
  }
}
