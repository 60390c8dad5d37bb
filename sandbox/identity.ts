/** Labels and names of containers: how a retry finds its leftover and the reaper finds an orphan's. */
import { createHash } from 'node:crypto';
import { type Owner, formatOwner } from './owner.ts';
import type { StepKey } from './types.ts';

export const LABEL = {
  managed: 'swarmline.managed',
  instance: 'swarmline.instance',
  run: 'swarmline.run',
  task: 'swarmline.task',
  attempt: 'swarmline.attempt',
  kind: 'swarmline.kind',
  step: 'swarmline.step',
  owner: 'swarmline.owner',
  /** Milliseconds since the epoch after which the container should be gone (frozen time not known to it). */
  deadline: 'swarmline.deadline',
  /** One value per try, so that a try never mistakes another's container of the same name for its own. */
  nonce: 'swarmline.nonce',
} as const;

/** Nonces of the tries that this process is busy with: what of ours is not among them was left behind by a failed removal. */
export const liveNonces = new Set<string>();

/** `swarmline-<instance>-<hash of key>`; `part` tells the containers of one step apart (its services). */
export function containerName(instance: string, key: StepKey, part = ''): string {
  const text = JSON.stringify([key.run, key.task, key.attempt, key.kind, key.step, part]);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 24);
  return `swarmline-${instance.replace(/[^A-Za-z0-9_.-]/g, '_')}-${hash}`;
}

export function labelsOf(
  instance: string,
  key: StepKey,
  owner: Owner,
  deadlineMs: number,
  nonce: string,
): Record<string, string> {
  return {
    [LABEL.managed]: '1',
    [LABEL.instance]: instance,
    [LABEL.run]: key.run,
    [LABEL.task]: key.task ?? '',
    [LABEL.attempt]: String(key.attempt),
    [LABEL.kind]: key.kind,
    [LABEL.step]: key.step,
    [LABEL.owner]: formatOwner(owner),
    [LABEL.deadline]: String(deadlineMs),
    [LABEL.nonce]: nonce,
  };
}

/** Engine filter for this instance's containers, optionally of a run and task. */
export function labelFilter(instance: string, run?: string, task?: string): { label: string[] } {
  const label = [`${LABEL.managed}=1`, `${LABEL.instance}=${instance}`];
  if (run !== undefined) label.push(`${LABEL.run}=${run}`);
  if (task !== undefined) label.push(`${LABEL.task}=${task}`);
  return { label };
}
