/** How a container ended → what that means. One exhaustive table per kind of step. */
import type { FailureCause, StepEnd } from '../model.ts';

/** `infrastructure`: says nothing about the work; run it again, count no attempt. `stopped`: somebody asked for it. */
export type EndMeaning<Cause extends FailureCause> = Cause | 'ok' | 'infrastructure' | 'stopped';

export type AgentCause = 'agent-failed' | 'agent-timeout' | 'agent-oom' | 'agent-disk-full';
export type GateCause = 'gate-red' | 'gate-timeout' | 'gate-oom';

export function agentEnd(end: StepEnd, exitCode: number | null): EndMeaning<AgentCause> {
  switch (end) {
    case 'exited':
      return exitCode === 0 ? 'ok' : 'agent-failed';
    // There is no such command, or it cannot be executed: trying the same again cannot help.
    case 'start-failed':
      return 'agent-failed';
    case 'oom':
      return 'agent-oom';
    case 'timeout':
      return 'agent-timeout';
    case 'disk-full':
      return 'agent-disk-full';
    case 'killed':
      return 'stopped';
    case 'engine-lost':
      return 'infrastructure';
  }
}

/** A full disk at the gate is red: the limit is the spec's, and running the step again fills it again. */
export function gateEnd(end: StepEnd, exitCode: number | null): EndMeaning<GateCause> {
  switch (end) {
    case 'exited':
      return exitCode === 0 ? 'ok' : 'gate-red';
    case 'start-failed':
      return 'gate-red';
    case 'oom':
      return 'gate-oom';
    case 'timeout':
      return 'gate-timeout';
    case 'disk-full':
      return 'gate-red';
    case 'killed':
      return 'stopped';
    case 'engine-lost':
      return 'infrastructure';
  }
}
