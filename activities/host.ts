/** Activities of one host's own queue: what acts on containers that run there. Each returns when it has taken effect. Short: no heartbeats. */
import type { Sandbox } from '../sandbox/types.ts';
import type { HostActivities } from './contract.ts';
import { asFailure } from './running.ts';

export interface HostDeps {
  readonly sandbox: Pick<Sandbox, 'freeze' | 'thaw' | 'stop'>;
}

export function createHostActivities({ sandbox }: HostDeps): HostActivities {
  return {
    freeze: ({ run }) => readable(sandbox.freeze(run)),
    thaw: ({ run }) => readable(sandbox.thaw(run)),
    stop: ({ run, task }) => readable(sandbox.stop(run, task)),
  };
}

async function readable(work: Promise<number>): Promise<number> {
  try {
    return await work;
  } catch (error) {
    throw asFailure(error);
  }
}
