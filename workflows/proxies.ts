/**
 * Activities as workflows see them: one proxy per queue, with the retry policy by what happened. Infrastructure faults are retried for
 * ever with a backoff (a host may be away for hours); what a person or an agent caused is thrown non-retryable or returned as a result.
 */
import { ActivityCancellationType, ApplicationFailure, ActivityFailure, proxyActivities } from '@temporalio/workflow';
import type {
  AttemptActivities,
  HostActivities,
  MainlineActivities,
  RecordActivities,
} from '../activities/contract.ts';

const backoff = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' } as const;
/** A worker that was killed is missed after this; work goes on within 15 s of its return (DESIGN.md section 8). */
const heartbeatTimeout = '10s';

/** Hub operations: short, exactly once by request id. A first clone of a large origin may take long, hence the heartbeat. */
export const mainlineActivities = proxyActivities<MainlineActivities>({
  taskQueue: 'swarmline-mainline',
  summary: 'hub',
  startToCloseTimeout: '30m',
  heartbeatTimeout,
  retry: backoff,
});

/** Containers: their own deadlines bound them (and stop while paused), the heartbeat tells that the host lives. */
export const attemptActivities = proxyActivities<AttemptActivities>({
  taskQueue: 'swarmline-sandbox',
  summary: 'sandbox',
  startToCloseTimeout: '7 days',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: backoff,
});

/** Who goes first on a sandbox queue with more work than slots: what the whole line waits for, then what is nearest to landing. */
export const PRIORITY = {
  verification: { priorityKey: 1 },
  gate: { priorityKey: 2 },
  planner: { priorityKey: 2 },
  agent: { priorityKey: 3 },
  evaluation: { priorityKey: 4 },
} as const;

export const recordActivities = proxyActivities<RecordActivities>({
  taskQueue: 'swarmline',
  summary: 'store',
  startToCloseTimeout: '1m',
  heartbeatTimeout,
  retry: backoff,
});

/** A dead host has no containers to freeze: give up soon and say so. */
export const hostActivities = (host: string) =>
  proxyActivities<HostActivities>({
    taskQueue: `swarmline-sandbox@${host}`,
    summary: `host ${host}`,
    scheduleToCloseTimeout: '20s',
    startToCloseTimeout: '15s',
    retry: { ...backoff, maximumAttempts: 3 },
  });

/** The failure that a person should read: the activity's own, not "Activity task failed". */
export function readableFailure(error: unknown): unknown {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) {
    const { message, type, details } = error.cause;
    return ApplicationFailure.create({ message, type: type ?? 'Failed', nonRetryable: true, details: details ?? [] });
  }
  return error;
}
