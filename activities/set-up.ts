/** The setup cache, for whoever runs containers. */
import { readFile } from 'node:fs/promises';
import { SetupFailed } from '../sandbox/faults.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { CompiledSpec } from '../spec/model.ts';
import type { AttemptDeps, SetUp } from './attempt-ports.ts';
import type { Running } from './running.ts';

export interface SetUpFor {
  readonly key: { readonly run: string; readonly task: string | null; readonly attempt: number };
  readonly spec: CompiledSpec;
  readonly scratch: Scratch;
  readonly image: string;
}

/** What setup gives for a commit or tree. What a failed one printed is kept as `setup.log` before the failure goes on. */
export async function setUp(treeish: string, on: SetUpFor, deps: AttemptDeps, running: Running): Promise<SetUp> {
  const { setup, limits } = on.spec.sandbox;
  if (setup === null) return { mounts: [], env: {} };
  try {
    return await deps.ensureSetup({
      gitDir: on.scratch.gitDir,
      commit: treeish,
      setup,
      image: on.image,
      limits,
      signal: running.signal,
      outputFile: on.scratch.outputFile('setup.log'),
    });
  } catch (error) {
    if (error instanceof SetupFailed) {
      const output = await readFile(error.outputFile).catch(() => '');
      await deps.store.saveArtifact({ ...on.key, name: 'setup.log' }, output);
    }
    throw error;
  }
}
