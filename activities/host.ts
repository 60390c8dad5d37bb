/** Activities of one host's own queue: what acts on containers that run there. Each returns when it has taken effect. */
import type { Sandbox } from '../sandbox/types.ts';
import type { HostActivities } from './contract.ts';
import { running } from './running.ts';

export interface HostDeps {
  readonly sandbox: Pick<Sandbox, 'freeze' | 'thaw' | 'stop'>;
}

export function createHostActivities({ sandbox }: HostDeps): HostActivities {
  return {
    freeze: ({ run }) => running(() => sandbox.freeze(run)),
    thaw: ({ run }) => running(() => sandbox.thaw(run)),
    stop: ({ run, task }) => running(() => sandbox.stop(run, task)),
  };
}
