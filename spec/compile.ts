/** From the complete raw spec (fields.ts) to the compiled one (model.ts): units parsed, roles and tasks in their final form. */
import type { Evaluate } from './evaluation.ts';
import type { RawTask } from './fields-task.ts';
import type { RawSpec } from './fields.ts';
import {
  ROLE_NAMES,
  type Budget,
  type CompiledSpec,
  type Limits,
  type Planning,
  type Policy,
  type Reviewer,
  type Role,
  type RoleName,
  type TaskSpec,
} from './model.ts';
import { parseDuration, parseSize } from './units.ts';

/** Milliseconds of a duration that the table of fields has accepted. */
const ms = (text: string): number => parseDuration(text) ?? 0;
const bytes = (text: string): number => parseSize(text) ?? 0;

export function compileSpec(
  raw: RawSpec,
  parts: Pick<CompiledSpec, 'gate' | 'tasks'> & {
    manifests: readonly string[];
    protected: readonly string[];
    scaffold: readonly string[];
    breaks: readonly string[];
  },
): CompiledSpec {
  const { repository, sandbox, deliver } = raw;
  return {
    name: raw.name,
    goal: raw.goal,
    repository: {
      url: repository.empty ? null : repository.url,
      branch: repository.branch,
      credentials: repository.credentials,
      contracts: repository.contracts,
      manifests: parts.manifests,
      protected: parts.protected,
      union: repository.union,
      maxFileBytes: bytes(repository.maxFile),
      fieldGuide: repository.fieldGuide,
    },
    gate: parts.gate,
    sandbox: {
      image: sandbox.image,
      setup: sandbox.setup,
      services: sandbox.services,
      limits: compileLimits(sandbox.limits),
    },
    roles: compileRoles(raw.roles),
    engines: raw.engines,
    reviewers: compileReviewers(raw.roles.reviewer),
    planning: compilePlanning(raw.planning),
    policy: compilePolicy(raw.policy, parts),
    evaluate: compileEvaluate(raw.policy.evaluate),
    budget: compileBudget(raw.budget),
    notify: raw.notify,
    deliver:
      deliver.fastForward === null
        ? { branch: deliver.branch ?? `swarmline/${raw.name}` }
        : { fastForward: deliver.fastForward },
    tasks: parts.tasks,
  };
}

function compileLimits(limits: RawSpec['sandbox']['limits']): Limits {
  return {
    cpus: limits.cpus,
    memoryBytes: bytes(limits.memory),
    pids: limits.pids,
    diskBytes: bytes(limits.disk),
    outputBytes: bytes(limits.output),
    agentMs: ms(limits.agent),
    stepMs: ms(limits.step),
  };
}

function compilePlanning({ asks, calls, replan, refuse, ...bounds }: RawSpec['planning']): Planning {
  const { maxOverlap, maxMinutes, ...limits } = refuse;
  return {
    bounds,
    asks,
    calls,
    replan,
    refuse: {
      ...limits,
      maxOverlap: maxOverlap === null ? null : maxOverlap / 100,
      maxMs: maxMinutes === null ? null : maxMinutes * 60_000,
    },
  };
}

function compilePolicy(
  { evaluate: _evaluate, mutation, ...policy }: RawSpec['policy'],
  { scaffold, breaks }: Pick<Policy, 'scaffold' | 'breaks'>,
): Policy {
  const { check, time, faults } = mutation;
  return { ...policy, scaffold, breaks, mutation: { check, timeMs: ms(time), faults } };
}

function compileEvaluate(raw: RawSpec['policy']['evaluate']): Evaluate | null {
  if (raw === null) return null;
  // A path that nobody read in is a problem by now (check-evaluate.ts).
  const files = Object.entries(raw.files).map(([path, file]) => [path, typeof file === 'string' ? '' : file.content]);
  return {
    run: raw.run,
    files: Object.fromEntries(files) as Record<string, string>,
    score: raw.score,
    timeMs: ms(raw.time),
  };
}

function compileBudget({ roles, ...budget }: RawSpec['budget']): Budget {
  const given = Object.entries(roles).filter(([, limit]) => limit !== null);
  return { ...budget, roles: Object.fromEntries(given) as Budget['roles'] };
}

function compileRoles(roles: RawSpec['roles']): CompiledSpec['roles'] {
  const out: Partial<Record<RoleName, Role>> & { worker: Role } = { worker: roles.worker };
  for (const name of ROLE_NAMES) {
    const found = roles[name];
    const role = Array.isArray(found) ? found[0] : found;
    if (role !== null && role !== undefined) out[name] = { engine: role.engine, model: role.model };
  }
  return out;
}

function compileReviewers(raw: RawSpec['roles']['reviewer']): Reviewer[] {
  const list = raw === null ? [] : Array.isArray(raw) ? raw : [raw];
  return list.map(({ engine, model, sees }) => ({ engine, model, sees }));
}

export function compileTask(
  task: RawTask,
  dependsOn: readonly string[],
  tests: Readonly<Record<string, string>>,
): TaskSpec {
  return {
    id: task.id,
    kind: task.kind,
    goal: task.goal,
    interface: task.interface,
    files: task.files,
    acceptance: task.acceptance,
    tests,
    dependsOn,
    priority: task.priority,
    role: task.role,
    run: task.run,
    script:
      task.script.length === 0
        ? null
        : task.script.map((attempt) => ({
            edits: attempt.edits,
            waitMs: ms(attempt.wait),
            exitCode: attempt.exitCode,
          })),
    mayBeEmpty: task.mayBeEmpty,
  };
}
