/** What comes before the first wave: the mainline workflow, the baseline, the proof that the gate can fail, the plan and its approval. */
import { ApplicationFailure, isCancellation, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { attributesOf } from './attributes.ts';
import { mainline } from './mainline.ts';
import * as protocol from './protocol.ts';
import { attemptActivities, recordActivities } from './proxies.ts';
import type { RunContext } from './run-context.ts';
import { nextChange } from './run-waves.ts';

export async function prepare(context: RunContext): Promise<void> {
  const { run, admitted, state } = context;
  const { policy, base } = admitted;
  await context.enter('prepare');
  const line = await startChild(mainline, {
    workflowId: protocol.mainlineId(run),
    args: [{ run, plan: state.plan, policy, scaffold: admitted.scaffold, carried: null }],
    parentClosePolicy: ParentClosePolicy.ABANDON, // survives when the run continues as new; the run closes it
    staticSummary: 'mainline',
    staticDetails: 'The merge queue: orders, merges, verifies, integrates',
    typedSearchAttributes: attributesOf({ run, kind: 'mainline', state: 'open' }),
  });
  // It ends when the run does. Should it fail (a bug of ours), the run says so instead of waiting for ever.
  line.result().catch((error: unknown) => {
    if (!isCancellation(error))
      context.broken = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    context.stirred = true;
  });
  if (!admitted.emptyRepository) {
    const baseline = await attemptActivities.runGate.executeWithOptions(
      { summary: `baseline gate on ${base.slice(0, 10)}` },
      [
        {
          run,
          key: 'baseline',
          level: 'wave',
          commit: base,
          base: null,
          task: null,
          attempt: null,
          onto: null,
          rerunRed: true,
        },
      ],
    );
    if (baseline.outcome === 'red' && policy.baseline === 'refuse') {
      const step = baseline.steps.find(({ step: name }) => name === baseline.step);
      throw ApplicationFailure.nonRetryable(
        `The base commit ${base.slice(0, 10)} is red before any task: step ${baseline.step}.\n${step?.failures.join('\n') ?? ''}\n${step?.tail ?? ''}\n` +
          `Mend the branch, or say \`policy: {baseline: record}\` with a gate report. Full log: swarmline logs ${run} baseline`,
        'BaselineRed',
      );
    }
    context.evaluations.start({ n: 0, commit: base });
  }
  if (context.planning !== null) await plan(context);
  // After the plan: faults are planted in what its tasks may write.
  if (!admitted.emptyRepository && policy.gateProof !== 'off') await proveGate(context);
  const worth = context.planning?.score.map((line) => `; ${line}`).join('') ?? '';
  await context.approval('plan', `${state.plan.length} tasks${worth}`);
}

/** Until every planner that can plan has planned; a person is asked where one failed to. */
async function plan(context: RunContext): Promise<void> {
  await context.enter('plan');
  context.planning!.look();
  while (!context.planning!.isSettled) await nextChange(context);
}

async function proveGate(context: RunContext): Promise<void> {
  const { run, admitted } = context;
  const { planted } = await attemptActivities.proveGate.executeWithOptions(
    { summary: 'proof that the gate can fail' },
    [{ run, commit: admitted.base, sample: 3 }],
  );
  const unnoticed = planted.filter(({ redStep }) => redStep === null).map(({ path }) => path);
  const message =
    unnoticed.length === 0
      ? `Every planted fault turned a step red: ${planted.map(({ path, redStep }) => `${path} → ${redStep}`).join(', ')}`
      : `A fault planted in these files turned no gate step red: ${unnoticed.join(', ')}`;
  await recordActivities.addLogEntry({ run, kind: 'gate-proof', task: null, message, key: 'gate-proof' });
  if (unnoticed.length > 0 && admitted.policy.gateProof === 'require') {
    throw ApplicationFailure.nonRetryable(
      `${message}. The gate cannot judge them (do the tests import built files instead of the sources?). Mend the gate, or say \`policy: {gateProof: warn}\`.`,
      'GateCannotFail',
    );
  }
}
