/**
 * One wave, or one part of it: starts its tasks some at a time, grants slots, tells runSpec what became of them.
 *
 * Invariants:
 * 1. Never more tasks hold a slot than it has slots; a slot that it gave back is no longer its own.
 * 2. runSpec hears of every change, at most one signal a second.
 * 3. It closes when each of its tasks has ended, and says so in its last signal.
 */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  sleep,
  startChild,
} from '@temporalio/workflow';
import type { TaskStart } from '../activities/contract.ts';
import type { Policy } from '../spec/model.ts';
import { grantSlots, slotsToRun } from '../spec/slots.ts';
import { attributesOf } from './attributes.ts';
import { executeTask } from './execute-task.ts';
import type { TaskReport } from './protocol.ts';
import {
  holdStarts,
  mainlineId,
  verifyNow,
  slotGranted,
  slotMessage,
  slotsMessage,
  taskWorkflowId,
  waveId,
  waveReport,
} from './protocol.ts';

export interface WaveInput {
  readonly run: string;
  readonly wave: number;
  readonly part: number;
  /** In the order in which they take slots. */
  readonly tasks: readonly TaskStart[];
  /** Its share of `policy.inFlight` at its start. */
  readonly slots: number;
  /** Others lack slots: what it cannot use it gives back. */
  readonly scarce: boolean;
  readonly held: boolean;
  readonly policy: Pick<Policy, 'attempts' | 'fixAttempts' | 'verify'>;
}

/**
 * Children that are being started at once; the next ones follow when these have started. All at once would be twice as slow as 50
 * (research/temporal.md 1.2), and a timer between starts costs a second each: the dev server's timers are no finer (bench/README.md).
 */
const STARTS_AT_ONCE = 20;

type Standing = 'unstarted' | 'holding' | 'waiting' | 'seeking' | 'ended';

export async function wave(input: WaveInput): Promise<void> {
  const { run, tasks } = input;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const standings = new Map<string, Standing>(tasks.map(({ id }) => [id, 'unstarted']));
  const changes = new Map<string, TaskReport>();
  /** Tasks whose next attempt, or the one under way, is their merger's. */
  const merging = new Set<string>();
  const self = waveId(run, input.wave, input.part);
  let held = input.held;
  let stirred = true;
  let { slots, scarce } = input;
  /** Slots that runSpec has asked for and not got, and those that go back with the next report. */
  let [asked, returned] = [0, 0];
  let toldWants = slotsToRun(tasks.length);

  const noteChange = (id: string, state: TaskReport['state'], why: string): void => {
    const { round, firstAttempt, ejections, resubmit } = byId.get(id)!;
    const awaitsApproval = why === 'approval';
    changes.set(id, {
      task: id,
      round,
      state,
      attempts: firstAttempt - 1,
      ejections,
      why,
      kept: resubmit,
      awaitsApproval,
    });
  };

  setHandler(holdStarts, (hold) => {
    held = hold;
    stirred = true;
  });
  setHandler(slotsMessage, ({ give, ask, scarce: lacking }) => {
    slots += give;
    asked += ask;
    scarce ||= lacking;
    stirred = true;
  });
  setHandler(slotMessage, ({ task, kind, why, merges = false }) => {
    if (standings.get(task) === 'ended') return;
    if (merges) merging.add(task);
    else merging.delete(task);
    standings.set(task, kind === 'release' ? 'waiting' : 'seeking');
    // What runSpec must hear of at once; all else it hears with the result. (The store has the rest, and each signal costs history.)
    if (why === 'approval') noteChange(task, 'merging', why);
    stirred = true;
  });

  /** Resolves when the child has started; what becomes of it is noted when it ends. */
  const start = async (task: TaskStart): Promise<void> => {
    try {
      const child = await startChild(executeTask, {
        workflowId: taskWorkflowId(run, task.id, task.round),
        args: [{ run, task, policy: input.policy, wave: self }],
        cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        staticSummary: `${task.id}${task.round > 1 ? ` (round ${task.round})` : ''}`,
        staticDetails: `Task \`${task.id}\` (${task.kind}), engine \`${task.engine}\``,
        typedSearchAttributes: attributesOf({
          run,
          kind: task.kind,
          state: 'running',
          wave: input.wave,
          task: task.id,
        }),
      });
      void child.result().then(
        (report) => {
          changes.set(task.id, report);
          end(task.id);
        },
        (error: unknown) => endBadly(task.id, error),
      );
    } catch (error) {
      endBadly(task.id, error);
    }
  };
  const end = (id: string): void => {
    standings.set(id, 'ended');
    stirred = true;
  };
  /** A bug of ours in the child, or its termination by hand: the task is blocked, never silently lost. */
  const endBadly = (id: string, error: unknown): void => {
    if (isCancellation(error)) noteChange(id, 'cancelled', 'cancelled');
    else noteChange(id, 'blocked', `Its workflow failed: ${String(error)}`);
    end(id);
  };

  const of = (wanted: Standing): TaskStart[] => tasks.filter(({ id }) => standings.get(id) === wanted);
  const asSeeker = ({ id, kind }: TaskStart) => ({
    task: id,
    kind: merging.has(id) && kind !== 'dependency-update' ? ('merge' as const) : kind,
  });
  const ended = (): boolean => tasks.every(({ id }) => standings.get(id) === 'ended');

  const wants = (): number => slotsToRun(of('unstarted').length + of('holding').length + of('seeking').length);
  /** Unused slots that runSpec asked for, or that nobody here could use. */
  const giveBack = (): void => {
    const unused = slots - of('holding').length;
    const back = Math.max(0, Math.min(unused, Math.max(asked, scarce ? slots - wants() : 0)));
    slots -= back;
    returned += back;
    asked = Math.max(0, asked - back);
  };

  const grant = async (): Promise<void> => {
    for (;;) {
      if (held) return;
      // A task that has begun goes before one that has not: it is nearer to landing, and its log is fresh.
      const seekers = [...of('seeking'), ...of('unstarted')].map(asSeeker);
      const granted = grantSlots(seekers, of('holding').map(asSeeker), slots).slice(0, STARTS_AT_ONCE);
      if (granted.length === 0) return;
      await Promise.all(granted.map(({ task }) => give(byId.get(task)!)));
    }
  };
  const give = async (task: TaskStart): Promise<void> => {
    const started = standings.get(task.id) !== 'unstarted';
    standings.set(task.id, 'holding');
    if (!started) return start(task);
    try {
      await getExternalWorkflowHandle(taskWorkflowId(run, task.id, task.round)).signal(slotGranted);
    } catch (error) {
      if (isCancellation(error)) throw error; // otherwise it has ended meanwhile, and its end is noted where it is awaited
    }
  };

  const keepGranting = async (): Promise<void> => {
    while (!ended()) {
      await condition(() => stirred);
      stirred = false;
      giveBack();
      await grant();
      await askForVerification();
    }
  };

  /** `policy.verify: wave`: the mainline verifies only when nobody is left who could still add to the head. */
  const askForVerification = async (): Promise<void> => {
    if (input.policy.verify !== 'wave' || of('waiting').length === 0) return;
    if (of('unstarted').length + of('holding').length + of('seeking').length > 0) return;
    await getExternalWorkflowHandle(mainlineId(run)).signal(verifyNow);
  };

  const parent = getExternalWorkflowHandle(run);
  const tell = async (closed: boolean): Promise<void> => {
    const reports = [...changes.values()];
    changes.clear();
    const report = { wave: input.wave, part: input.part, tasks: reports, returned, wants: wants(), closed };
    [returned, toldWants] = [0, report.wants];
    await parent.signal(waveReport, report);
  };
  const slotsMove = (): boolean => returned > 0 || (wants() > slots && wants() > toldWants);
  /** At most one signal a second; without a timer where the last one is older than that. */
  const keepTelling = async (): Promise<void> => {
    for (let last = 0; ; last = Date.now()) {
      await condition(() => changes.size > 0 || slotsMove());
      const waitMs = last + 1000 - Date.now();
      if (waitMs > 0) await sleep(waitMs);
      if (ended()) return;
      await tell(false);
    }
  };

  try {
    await CancellationScope.cancellable(async () => {
      await Promise.all([keepTelling(), keepGranting()]);
    });
    await tell(true);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      for (const { id } of of('unstarted')) {
        noteChange(id, 'cancelled', 'cancelled before it started');
        standings.set(id, 'ended');
      }
      await condition(ended);
      await tell(true);
    });
  }
}
