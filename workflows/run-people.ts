/**
 * What people may ask of a run. Every update is validated before it enters history and returns, with a sentence, when what
 * it says has happened (invariant 12 of the design).
 */
import { ApplicationFailure, condition, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { WAIVABLE } from '../spec/model.ts';
import { allDependants } from '../spec/schedule.ts';
import { canMove, isClosed } from '../spec/task-state.ts';
import * as protocol from './protocol.ts';
import { mainlineActivities, readableFailure, recordActivities } from './proxies.ts';
import type { RunContext } from './run-context.ts';
import { pauseRun, resumeRun } from './run-pause.ts';
import type { TaskRecord } from './run-state.ts';

const refuse = (message: string): never => {
  throw ApplicationFailure.create({ message, type: 'Refused', nonRetryable: true });
};
const IN_FLIGHT = ['running', 'retrying', 'merging'];

/**
 * Registered before anything else happens, because an update without a handler is refused by the server.
 * @param current the run once its spec has been admitted; null before.
 */
export function handlePeople(run: string, current: () => RunContext | null): void {
  const admitted = (): RunContext => current() ?? refuse(`${run} is still being validated; try again in a moment`);
  const record = (id: string): TaskRecord =>
    admitted().state.get(id) ?? refuse(`${run} has no task "${id}"; \`swarmline status ${run}\` lists them`);
  const stir = async (): Promise<void> => {
    admitted().stirred = true;
    await admitted().record();
  };

  setHandler(
    protocol.approveUpdate,
    async ({ what, task }) => {
      if (what === 'merge') {
        const { plan, round } = record(task ?? '');
        await getExternalWorkflowHandle(protocol.taskWorkflowId(run, plan.id, round)).signal(protocol.mergeApproved);
        record(plan.id).awaitsApproval = false;
        await stir();
        return `Approved: ${plan.id} goes to the mainline`;
      }
      admitted().approved.add(what);
      await condition(() => admitted().awaiting?.what !== what);
      return `Approved: ${what}`;
    },
    {
      validator: ({ what, task }) => {
        if (what === 'merge') {
          if (task === undefined) refuse(`Name the task: swarmline approve ${run} merge --task TASK`);
          else if (!record(task).awaitsApproval)
            refuse(`${task} does not wait for an approval; it is ${record(task).state}`);
        } else if (admitted().awaiting?.what !== what) {
          refuse(
            `Nothing waits for approval of "${what}"${admitted().awaiting === null ? '' : `; waiting: ${admitted().awaiting?.what}`}`,
          );
        }
      },
    },
  );

  setHandler(
    protocol.retryTaskUpdate,
    async ({ task }) => {
      admitted().state.retry(task, Date.now());
      await stir();
      await condition(() => admitted().paused || record(task).state !== 'pending');
      return `${task} is ${record(task).state}, round ${record(task).round}`;
    },
    {
      validator: ({ task }) =>
        void (record(task).state === 'blocked' || refuse(`${task} is ${record(task).state}, not blocked`)),
    },
  );

  /** Ends a task by a person's word: at once where nothing runs, else when its containers are gone. */
  const end = async (id: string, how: 'skip' | 'cancel'): Promise<void> => {
    const target = record(id);
    if (!IN_FLIGHT.includes(target.state)) {
      admitted().state.move(id, how, Date.now(), 'by a person');
      return;
    }
    target.intent = how;
    await getExternalWorkflowHandle(protocol.taskWorkflowId(run, id, target.round)).cancel();
    await admitted().onHosts((host) => host.stop({ run, task: id }));
    await condition(() => isClosed(record(id).state));
  };
  const endable =
    (how: 'skip' | 'cancel') =>
    ({ task }: protocol.TaskArgument): void =>
      void (
        canMove(record(task).state, how) ||
        refuse(`${task} is ${record(task).state}; it can no longer be ${how === 'skip' ? 'skipped' : 'cancelled'}`)
      );

  setHandler(
    protocol.skipTaskUpdate,
    async ({ task, dependants = 'release' }) => {
      await end(task, 'skip');
      if (record(task).state !== 'skipped')
        return `${task} is ${record(task).state}: it ended before it could be skipped`;
      record(task).releasesDependants = dependants === 'release';
      const also =
        dependants === 'skip'
          ? [...allDependants(admitted().state.plan, [task])].filter((id) => canMove(record(id).state, 'skip'))
          : [];
      for (const id of also) await end(id, 'skip');
      await stir();
      return `Skipped ${[task, ...also].join(', ')}${dependants === 'release' ? '; what depends on it is released' : ''}`;
    },
    { validator: endable('skip') },
  );
  setHandler(
    protocol.cancelTaskUpdate,
    async ({ task }) => {
      await end(task, 'cancel');
      await stir();
      return `${task} is ${record(task).state}`;
    },
    { validator: endable('cancel') },
  );

  setHandler(
    protocol.amendTaskUpdate,
    async ({ task, spec }) => {
      try {
        admitted().state.amend(await mainlineActivities.amendTask({ run, task, raw: spec }));
      } catch (error) {
        throw readableFailure(error);
      }
      await admitted().tellPlan();
      await stir();
      const again = record(task).state === 'blocked' ? `; \`swarmline retry ${run} ${task}\` starts it` : '';
      return `${task} is amended and ${record(task).state}${again}`;
    },
    {
      validator: ({ task }) =>
        void (
          ['pending', 'ready', 'blocked'].includes(record(task).state) ||
          refuse(`${task} is ${record(task).state}; only a task that is pending or blocked can be amended`)
        ),
    },
  );
  const refuseKnown = (id: unknown): void => {
    if (typeof id === 'string' && admitted().state.get(id) !== undefined)
      refuse(`${run} has a task "${id}" already; \`swarmline amend ${run} ${id} FILE\` changes it`);
  };
  setHandler(
    protocol.addTaskUpdate,
    async ({ task }) => {
      try {
        const plan = await mainlineActivities.admitTask({ run, raw: task });
        refuseKnown(plan.id); // added by another person meanwhile
        admitted().state.add(plan, Date.now());
        await admitted().tellPlan();
        await stir();
        return `Added ${plan.id}`;
      } catch (error) {
        throw readableFailure(error);
      }
    },
    {
      validator: ({ task }) =>
        refuseKnown(typeof task === 'object' && task !== null && 'id' in task ? task.id : undefined),
    },
  );

  setHandler(
    protocol.replanUpdate,
    async ({ scope, say = '', leave = false }) => {
      const planning = admitted().planning!;
      const who = scope === '' ? 'The planner' : `The planner of ${scope}`;
      if (leave) planning.leave(scope);
      else
        planning.ask(
          scope,
          say.trim() === '' ? 'A person asks you to look at the plan again.' : `A person says: ${say}`,
        );
      await stir();
      if (leave) return `${who} has nothing more to plan`;
      const before = admitted().state.plan.length;
      await condition(() => admitted().paused || planning.isAnswered(scope));
      if (!planning.isAnswered(scope)) return `${who} is called when ${run} is resumed`;
      if (planning.failed(scope)) return `${who} failed: ${planning.whyOf(scope)}`;
      return `${who} has answered: ${admitted().state.plan.length - before} tasks more; \`swarmline plan ${run}\` shows the plan`;
    },
    {
      validator: ({ scope }) => {
        const { planning } = admitted();
        if (planning === null)
          refuse(`${run} has no planner (roles.planner); \`swarmline add ${run} FILE\` adds tasks`);
        else if (!planning.has(scope)) refuse(`${run} has no scope "${scope}"; \`swarmline plan ${run}\` lists them`);
      },
    },
  );

  setHandler(
    protocol.landAnywayUpdate,
    async ({ task, step, reason }) => {
      const target = record(task);
      await recordActivities.addLogEntry({
        run,
        kind: 'land-anyway',
        task,
        message: `Step ${step} waived: ${reason}`,
        key: `land-anyway/${task}/${target.round}/${step}`,
      });
      admitted().state.retry(task, Date.now());
      target.resubmit = true;
      target.waive = [...target.waive, step];
      await stir();
      await condition(() => admitted().paused || isClosed(record(task).state));
      return `${task} is ${record(task).state}${record(task).why === '' ? '' : `: ${record(task).why}`}`;
    },
    {
      validator: ({ task, step, reason }) => {
        const target = record(task);
        if (target.state !== 'blocked') refuse(`${task} is ${target.state}, not blocked`);
        if (target.kept === null) refuse(`${task} has no collected commit that could land`);
        if (!(WAIVABLE as readonly string[]).includes(step))
          refuse(`No gate step is called "${step}"; there are ${WAIVABLE.join(', ')}`);
        if (!reason?.trim()) refuse('Say why: --reason "…" is recorded');
      },
    },
  );

  setHandler(protocol.pauseUpdate, async ({ drain = false }) => pauseRun(admitted(), drain));
  setHandler(protocol.resumeUpdate, async () => resumeRun(admitted()));
  setHandler(protocol.deliverUpdate, async () => {
    const { commit, pushed, fetch } = await mainlineActivities.deliverMain({ run });
    return pushed === null ? `main is ${commit}; fetch it with: ${fetch}` : `Pushed ${commit} to ${pushed}`;
  });

  setHandler(protocol.progressQuery, () => {
    const context = current();
    return {
      phase: context?.phase ?? 'validate',
      paused: context?.paused ?? false,
      wave: context?.wave ?? 0,
      tasks: context?.state.counts() ?? {},
      greenPoints: context?.greenPoints ?? 0,
      waiting: context?.waiting() ?? [],
    };
  });
  setHandler(protocol.planQuery, () =>
    [...(current()?.state.records.values() ?? [])].map(({ plan, state, round }) => ({ ...plan, state, round })),
  );
  setHandler(protocol.taskQuery, (id) => current()?.state.get(id) ?? null);
}
