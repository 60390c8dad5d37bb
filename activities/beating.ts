/**
 * Heartbeats for short activities: a worker that is killed in the middle is noticed by its silence, within the heartbeat timeout, and not
 * only when the activity's whole time is up.
 */
import { Context } from '@temporalio/activity';

/** Well under every heartbeat timeout of ours (workflows/proxies.ts: 10 s); the SDK sends at most one in 2 s. */
const BEAT_MS = 2_500;

type Activities = Record<string, (input: never) => Promise<unknown>>;

/** The same activities, with heartbeats from a timer, never from the work. `asFailure` turns what they throw into what Temporal is told. */
export function beating<A extends object>(activities: A, asFailure = (error: unknown): unknown => error): A {
  const wrapped = Object.entries(activities as Activities).map(([name, act]) => [
    name,
    async (input: never): Promise<unknown> => {
      const context = Context.current();
      const timer = setInterval(() => context.heartbeat(), BEAT_MS);
      try {
        return await act(input);
      } catch (error) {
        throw asFailure(error);
      } finally {
        clearInterval(timer);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as A;
}
