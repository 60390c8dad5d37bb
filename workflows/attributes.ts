/** Search attributes that every workflow of a run carries; the worker registers them at start when they are absent. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { SearchAttributePair } from '@temporalio/common';

export const runKey = defineSearchAttributeKey('SwarmRun', SearchAttributeType.KEYWORD);
export const taskKey = defineSearchAttributeKey('SwarmTask', SearchAttributeType.KEYWORD);
export const stateKey = defineSearchAttributeKey('SwarmState', SearchAttributeType.KEYWORD);
export const waveKey = defineSearchAttributeKey('SwarmWave', SearchAttributeType.INT);
export const kindKey = defineSearchAttributeKey('SwarmKind', SearchAttributeType.KEYWORD);

export const SEARCH_ATTRIBUTES = [runKey, taskKey, stateKey, waveKey, kindKey];

/** Attributes of a child workflow. */
export function attributesOf(of: {
  run: string;
  kind: string;
  state: string;
  wave?: number;
  task?: string;
}): SearchAttributePair[] {
  return [
    { key: runKey, value: of.run },
    { key: kindKey, value: of.kind },
    { key: stateKey, value: of.state },
    ...(of.wave === undefined ? [] : [{ key: waveKey, value: of.wave }]),
    ...(of.task === undefined ? [] : [{ key: taskKey, value: of.task }]),
  ];
}
