/** Answers the CLI as runSpec does, without doing anything: what is under test is the command line. */
import { ApplicationFailure, condition, setHandler, sleep } from '@temporalio/workflow';
import * as protocol from '../../../workflows/protocol.ts';

export async function runSpec(raw: { name: string }): Promise<string> {
  let ended = false;
  setHandler(protocol.resumeUpdate, () => 'Resumed: 0 containers thawed');
  setHandler(protocol.pauseUpdate, ({ drain }) => `Paused${drain === true ? ', drained' : ''}`);
  setHandler(protocol.retryTaskUpdate, ({ task }) => `${task} is ready, round 2`, {
    validator: ({ task }) => {
      if (task !== 'a')
        throw ApplicationFailure.create({
          message: `${task} is passed, not blocked`,
          type: 'Refused',
          nonRetryable: true,
        });
    },
  });
  setHandler(protocol.addTaskUpdate, ({ task }) => {
    throw ApplicationFailure.create({
      message: `- goal: is required ${JSON.stringify(task)}`,
      type: 'BadSpec',
      nonRetryable: true,
    });
  });
  setHandler(protocol.deliverUpdate, () => {
    throw ApplicationFailure.create({ message: 'the origin refused', type: 'Failed', nonRetryable: true });
  });
  setHandler(protocol.approveUpdate, () => {
    ended = true;
    return 'Approved: plan';
  });
  if (raw.name === 'refused')
    throw ApplicationFailure.create({
      message: 'The spec has 1 problem:\n- goal: is vague',
      type: 'BadSpec',
      nonRetryable: true,
    });
  await condition(() => ended);
  return 'done';
}

export async function deliverRun({ run }: { run: string }): Promise<string> {
  await sleep(1);
  return `Pushed c0ffee of ${run} to swarmline/x`;
}

export const collectGarbage = ({ keepDays }: { keepDays?: number }): Promise<object> =>
  Promise.resolve({ runs: 2, refs: keepDays ?? 0, rows: 0 });
