/**
 * Admission of specs and tasks, on the mainline worker because it owns the hub that fanOut and preset tests are read from.
 *
 * Invariants:
 * 1. Every problem of an input is in one non-retryable failure, each with its path; nothing has started then.
 * 2. A repetition (Temporal's retry) admits the same run again without a second effect.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Context } from '@temporalio/activity';
import { RepositoryError } from '../mainline/errors.ts';
import { createHub } from '../mainline/hub.ts';
import type { Hub } from '../mainline/hub.ts';
import type { CompiledSpec, Problem } from '../spec/model.ts';
import { idProblem } from '../spec/names.ts';
import { FIRST } from '../spec/plan/index.ts';
import { validateSpec } from '../spec/validate.ts';
import {
  addPlanNode,
  amendTask,
  listTasks,
  loadRun,
  loadTask,
  nextTaskIndex,
  RunExists,
  saveGreenPoint,
  saveRun,
  saveTasks,
} from '../store/index.ts';
import type { Admitted, MainlineActivities } from './contract.ts';
import { admitAlone, filesAtBase, rawSpecPath } from './admit-task.ts';
import { createAnswerScope } from './answer-scope.ts';
import type { AdmissionDeps } from './admission-deps.ts';
import { planTask } from './plan-task.ts';
import { badSpec } from './bad-spec.ts';
import { rawTask } from './raw-task.ts';

export function createAdmissionActivities(
  deps: AdmissionDeps,
): Pick<MainlineActivities, 'admitRun' | 'admitTask' | 'amendTask' | 'answerScope'> {
  const openRepository = async (run: string, repository: CompiledSpec['repository']): Promise<Hub | Problem> => {
    const { url, branch, union, credentials } = repository;
    try {
      const credential = await deps.credential(credentials, url);
      await createHub({ dir: join(deps.hubRoot, `${run}.git`), url, branch, credential, union });
      return await deps.hub(run);
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      return { path: error.kind === 'no-branch' ? 'repository.branch' : 'repository.url', message: error.message };
    }
  };

  return {
    answerScope: createAnswerScope(deps),
    async admitRun({ run, raw }) {
      const badId = idProblem(run);
      if (badId !== null)
        throw badSpec([{ path: '', message: `The workflow id "${run}" names the run, and ${badId}` }]);
      // What does not depend on the repository is found even when the repository cannot be read, and the other way round.
      const withoutFiles = (): Problem[] => validateSpec(raw, { files: null, prices: deps.prices }).problems;
      const repository = repositoryOf(raw);
      if (repository === null) throw badSpec(withoutFiles());
      const before = await loadRun(deps.db, run);
      const hub = await openRepository(run, repository);
      if (!('dir' in hub)) throw badSpec([...withoutFiles(), hub]);
      const { spec, problems } = validateSpec(raw, {
        ...(await filesAtBase(hub, raw)),
        prices: deps.prices,
      });
      if (spec === null || problems.length > 0) {
        if (before === null) await rm(hub.dir, { recursive: true, force: true });
        throw badSpec(problems);
      }
      const { base } = await hub.heads();
      try {
        const { workflowExecution } = Context.current().info;
        await saveRun(deps.db, { id: run, spec, baseCommit: base, execution: workflowExecution?.runId ?? null });
      } catch (error) {
        if (!(error instanceof RunExists)) throw error;
        throw badSpec([
          { path: '', message: `There has been a run "${run}" already; start this one under another workflow id` },
        ]);
      }
      await saveTasks(deps.db, run, spec.tasks);
      if (spec.roles.planner !== undefined)
        await addPlanNode(deps.db, run, {
          id: FIRST,
          parent: null,
          depth: 0,
          goal: '',
          interface: '',
          files: ['**'],
          dependsOn: [],
        });
      await saveGreenPoint(deps.db, run, { n: 0, commit: base });
      await writeAtomically(rawSpecPath(deps.hubRoot, run), JSON.stringify(raw));
      return admitted(spec, base);
    },

    async admitTask({ run, raw }) {
      const known = await loadTask(deps.db, run, idOf(raw));
      const task = known?.spec ?? (await admitAlone(deps, run, raw, null));
      if (known === null) await saveTasks(deps.db, run, [task], await nextTaskIndex(deps.db, run));
      const rows = await listTasks(deps.db, run);
      return planTask(task, rows.find(({ id }) => id === task.id)?.index ?? rows.length);
    },

    async amendTask({ run, task: id, raw }) {
      const known = await loadTask(deps.db, run, id);
      if (known === null) throw badSpec([{ path: '', message: `${run} has no task "${id}"` }]);
      const changes = typeof raw === 'object' && raw !== null ? raw : {};
      const task = await admitAlone(deps, run, { ...rawTask(known.spec), ...changes, id }, id);
      await amendTask(deps.db, run, id, task);
      const rows = await listTasks(deps.db, run);
      return planTask(task, rows.find((row) => row.id === id)?.index ?? 0);
    },
  };
}

function admitted(spec: CompiledSpec, base: string): Admitted {
  const engines = Object.entries(spec.roles).map(([role, { engine, model }]) => [role, { engine, model }] as const);
  return {
    name: spec.name,
    base,
    emptyRepository: spec.repository.url === null,
    plan: spec.tasks.map(planTask),
    policy: spec.policy,
    notifyOn: spec.notify.run === null && spec.notify.webhook === null ? [] : spec.notify.on,
    deliverTo: 'branch' in spec.deliver ? spec.deliver.branch : spec.deliver.fastForward,
    engines: Object.fromEntries(engines),
    scaffold: spec.policy.scaffold,
    ...(spec.evaluate === null ? {} : { evaluate: true as const }),
    ...(spec.reviewers.length === 0 ? {} : { reviewers: spec.reviewers.map(({ sees, engine }) => ({ sees, engine })) }),
    ...(spec.roles.planner === undefined
      ? {}
      : { planning: { ...spec.planning, reconciler: spec.roles.reconciler !== undefined } }),
  };
}

/** Where the repository of a spec is, also of one that has problems elsewhere; null when that itself is wrong. */
function repositoryOf(raw: unknown): CompiledSpec['repository'] | null {
  const given = typeof raw === 'object' && raw !== null && 'repository' in raw ? raw.repository : undefined;
  if (typeof given !== 'object' || given === null) return null;
  // What it says of the files in it is judged with the tasks, once the files are known.
  const repository = { ...given, contracts: undefined, protected: undefined, manifests: undefined };
  const minimal = {
    name: 'x',
    goal: 'Check the repository.',
    repository,
    gate: { lint: 'skip', typecheck: 'skip', test: 'skip', build: 'skip' },
    roles: { worker: { engine: 'command' } },
    tasks: [{ id: 'x', goal: 'Write x.', files: { allow: ['x'] }, acceptance: ['`x` exists'], run: ['true'] }],
  };
  return validateSpec(minimal, { files: null }).spec?.repository ?? null;
}

const idOf = (raw: unknown): string =>
  typeof raw === 'object' && raw !== null && 'id' in raw && typeof raw.id === 'string' ? raw.id : '';

async function writeAtomically(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}
