/** Stopping a whole run for a while, and going on. */
import { getExternalWorkflowHandle } from '@temporalio/workflow';
import * as protocol from './protocol.ts';
import type { RunContext } from './run-context.ts';

/** Returns, with a sentence, when nothing starts or merges any more and what ran is frozen, or, with `drain`, has ended. */
export async function pauseRun(context: RunContext, drain: boolean): Promise<string> {
  const { run } = context;
  context.paused = true;
  context.stirred = true;
  await context.record(); // the store knows before anything else: a step that would start now waits
  await getExternalWorkflowHandle(protocol.mainlineId(run)).signal(protocol.holdMerges, true);
  await context.eachOpenPart((wave) => wave.signal(protocol.holdStarts, true));
  if (drain) {
    await context.drained();
    return 'Paused: what was running has ended, nothing starts or merges';
  }
  const { containers, silent } = await context.onHosts((host) => host.freeze({ run }));
  const lost =
    silent.length === 0
      ? ''
      : `; no answer from ${silent.join(', ')}: their containers, if any, run on until they are back`;
  return `Paused: ${containers} container${containers === 1 ? '' : 's'} frozen, nothing starts or merges${lost}`;
}

export async function resumeRun(context: RunContext): Promise<string> {
  const { run } = context;
  context.paused = false;
  context.stirred = true;
  await context.record();
  const { containers } = await context.onHosts((host) => host.thaw({ run }));
  await context.eachOpenPart((wave) => wave.signal(protocol.holdStarts, false));
  await getExternalWorkflowHandle(protocol.mainlineId(run)).signal(protocol.holdMerges, false);
  return `Resumed: ${containers} container${containers === 1 ? '' : 's'} thawed`;
}
