/** Starts the benchmark's sandbox host as a process of its own and talks to it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { HostSettings } from './overhead-host.ts';
import type { Timeline } from './overhead-times.ts';

export interface Host {
  readonly pid: number;
  /** By task. */
  timelines(): Promise<Map<string, Timeline>>;
  stop(): Promise<void>;
}

const READY_MS = 60_000;

/** Throws when it ends instead of becoming ready. */
export async function forkHost(env: NodeJS.ProcessEnv, settings: HostSettings): Promise<Host> {
  const child = fork(fileURLToPath(new URL('./overhead-host.js', import.meta.url)), [JSON.stringify(settings)], {
    env,
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const exited = once(child, 'exit');
  const answer = async (): Promise<unknown> => {
    const [message] = (await Promise.race([
      once(child, 'message', { signal: AbortSignal.timeout(READY_MS) }),
      exited.then(([code]) =>
        Promise.reject(new Error(`The sandbox host of the benchmark ended with ${String(code)}`)),
      ),
    ])) as [unknown];
    return message;
  };
  await answer();
  return {
    pid: child.pid!,
    timelines: async () => {
      const answered = answer();
      child.send('timelines');
      return new Map((await answered) as [string, Timeline][]);
    },
    stop: async () => {
      if (child.connected) child.send('stop');
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
