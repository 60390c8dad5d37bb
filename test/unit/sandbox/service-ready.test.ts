/** What an engine may answer while a service starts; against a fake of it, because the moments are too short to be hit. */
import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { becomeReady } from '../../../sandbox/service-ready.ts';
import type { Started } from '../../../sandbox/service-ready.ts';
import type { Sandbox } from '../../../sandbox/types.ts';

const one: Started = {
  name: 'db',
  id: 'c1',
  service: { image: 'i', env: {}, ready: 'true' },
  stream: new PassThrough(),
  log: { tail: Buffer.from('cannot find my data') },
};
const answered = (statusCode: number, message: string): Error => Object.assign(new Error(message), { statusCode });

/** An engine whose container runs when it is looked at for the first so many times, and in which no command can be run. */
function engine(looksWhileItRuns: number, execError: Error): Sandbox {
  let looks = 0;
  const container = {
    inspect: async () => ({ State: { Running: ++looks <= looksWhileItRuns, ExitCode: 3, OOMKilled: false } }),
    exec: () => Promise.reject(execError),
  };
  return {
    docker: { getContainer: () => container },
    context: { freezer: { isFrozen: () => false } },
  } as unknown as Sandbox;
}
const ready = (sandbox: Sandbox): Promise<void> =>
  becomeReady(sandbox, 'r', one, performance.now() + 60_000, new AbortController().signal);

it('a service that ends between our look at it and its ready command is told by how it ended', async () => {
  await expect(ready(engine(1, answered(500, 'container c1 is not running: Exited (3)')))).rejects.toThrow(
    /service db ended with exit code 3.*cannot find my data/s,
  );
});

it('one that runs, and in which the command cannot be run, is told by that', async () => {
  await expect(ready(engine(100, answered(400, 'no such executable: sh')))).rejects.toThrow(
    /cannot run its ready command.*no such executable/s,
  );
});
