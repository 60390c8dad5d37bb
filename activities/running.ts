/**
 * What every long activity of a sandbox host does around its work.
 *
 * 1. Heartbeats come from a timer, never from the work: a silent agent is not a dead one.
 * 2. What is thrown says what Temporal does next: a fault of the host is retried, a person's mistake is not, a cancellation stays one.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { EngineInputError, UnknownEngine } from '../engines/index.ts';
import { GitError } from '../mainline/git.ts';
import { HubError } from '../mainline/errors.ts';
import { HubUnreachable } from '../mainline/hub-request.ts';
import { InfrastructureFault, SandboxSetupError, ServiceFailed } from '../sandbox/faults.ts';
import { createCarrying } from './carried.ts';
import type { Carrying, Holder, Running } from './carried.ts';

export type { Running } from './carried.ts';

/** A worker's heartbeat throttle should be at most this, or cancellation is seen later. */
const HEARTBEAT_MS = 2_000;

/** Types of the failures that workflows may meet. */
export const FAILURE_TYPES = {
  infrastructure: 'Infrastructure',
  setup: 'SandboxSetup',
  engine: 'EngineInput',
} as const;

/** Runs work for an activity: the same work once, however often it is asked for (carried.ts). */
export type RunWork = <T>(key: string, work: (running: Running) => Promise<T>) => Promise<T>;

export function createRunning(carrying: Carrying = createCarrying()): RunWork {
  return async (key, work) => {
    const context = Context.current();
    const signal = context.cancellationSignal;
    const beat = (): void => context.heartbeat(carrying.details(key));
    beat();
    const timer = setInterval(beat, HEARTBEAT_MS);
    const holder: Holder = {
      signal,
      scheduledAtMs: context.info.currentAttemptScheduledTimestampMs,
      why: () => {
        const details = context.cancellationDetails;
        if (details?.cancelRequested === true) return 'asked';
        return details?.notFound === true || details?.timedOut === true ? 'lost' : 'ending';
      },
    };
    try {
      return await carrying.hold(key, holder, work);
    } catch (error) {
      signal.throwIfAborted();
      throw asFailure(error);
    } finally {
      clearInterval(timer);
    }
  };
}

/**
 * One table from our error classes to what Temporal does. Anything unknown stays as it is: a bug, retried by policy and visible.
 * A service that does not come up is retried: under load it may at the next try, and the baseline has shown that it can.
 */
export function asFailure(error: unknown): unknown {
  if (error instanceof ApplicationFailure || !(error instanceof Error)) return error;
  const failure = (type: string, nonRetryable: boolean): ApplicationFailure =>
    ApplicationFailure.create({ message: error.message, type, nonRetryable, cause: error });
  const retried = [InfrastructureFault, GitError, HubError, HubUnreachable, ServiceFailed];
  if (retried.some((kind) => error instanceof kind)) return failure(FAILURE_TYPES.infrastructure, false);
  if (error instanceof SandboxSetupError) return failure(FAILURE_TYPES.setup, true);
  if (error instanceof UnknownEngine || error instanceof EngineInputError) return failure(FAILURE_TYPES.engine, true);
  return error;
}
