/**
 * Whether a model call may be sent now, given what was spent, what is under way, and the limits. Pure.
 *
 * 1. Spent, under way and wanted together stay under every limit; so a budget is passed by no more than the calls in flight cost
 *    beyond their estimates.
 * 2. A limit is reached only when nothing that is under way could still turn out cheaper than reserved: until then one waits.
 * 3. The rest of a budget can be spent: with nothing under way, one call goes out as long as anything is left.
 */
import type { Budget, RoleName, SpendLimit } from './model.ts';

/** Begins what an agent is told whose task has spent its budget: its CLI passes the text on, and that is the only way in which we hear of it. */
export const BUDGET_SPENT = '[swarmline:budget]';

/** Sums of one scope: the run, one of its roles, one of its tasks. Money in millionths of a US dollar. */
export interface Spend {
  readonly microusd: number;
  readonly tokens: number;
  readonly open: number;
  readonly reservedMicrousd: number;
  readonly reservedTokens: number;
}
export const NOTHING_SPENT: Spend = { microusd: 0, tokens: 0, open: 0, reservedMicrousd: 0, reservedTokens: 0 };

export interface CallCost {
  readonly model: string;
  /** null: nobody knows what the model costs. */
  readonly microusd: number | null;
  readonly tokens: number;
}

export type Verdict =
  | { readonly ok: true }
  /** Calls under way will tell whether there is room. */
  | { readonly ok: false; readonly refusal: 'places' }
  /** The run's or a role's is reached: only a raised budget helps, and everybody waits for it. `denied`: a task's is, and others go on. */
  | { readonly ok: false; readonly refusal: 'budget' | 'denied'; readonly why: string };

/** The scopes of a call and their limits, in the order in which a reached one is named. */
export function scopesOf(
  budget: Budget,
  caller: { readonly role: string; readonly task: string },
): readonly { readonly scope: string; readonly name: string; readonly limits: SpendLimit }[] {
  const role = budget.roles[caller.role as RoleName];
  return [
    { scope: 'run', name: 'the run', limits: budget },
    { scope: `role:${caller.role}`, name: `the role ${caller.role}`, limits: role ?? UNLIMITED },
    ...(caller.task === '' ? [] : [{ scope: `task:${caller.task}`, name: `task ${caller.task}`, limits: budget.task }]),
  ];
}
const UNLIMITED: SpendLimit = { usd: null, tokens: null };

export function mayCall(
  budget: Budget,
  caller: { readonly role: string; readonly task: string },
  spend: ReadonlyMap<string, Spend>,
  call: CallCost,
): Verdict {
  if ((spend.get('run') ?? NOTHING_SPENT).open >= budget.modelCalls) return { ok: false, refusal: 'places' };
  let mustWait = false;
  for (const { scope, name, limits } of scopesOf(budget, caller)) {
    const sums = spend.get(scope) ?? NOTHING_SPENT;
    const kinds = [
      { limit: limits.usd === null ? null : limits.usd * 1e6, spent: sums.microusd, reserved: sums.reservedMicrousd, wanted: call.microusd, text: `${limits.usd} USD` },
      { limit: limits.tokens, spent: sums.tokens, reserved: sums.reservedTokens, wanted: call.tokens, text: `${limits.tokens} tokens` },
    ]; // prettier-ignore
    for (const { limit, spent, reserved, wanted, text } of kinds) {
      if (limit === null) continue;
      if (wanted === null) {
        const why = `the model ${call.model} has no price, so it cannot be held to a budget of ${text}: name one in the file of SWARMLINE_PRICES`;
        return { ok: false, refusal: 'budget', why };
      }
      if (spent >= limit) {
        const refusal = scope.startsWith('task:') ? 'denied' : 'budget';
        return { ok: false, refusal, why: `${name} has spent its budget of ${text}` };
      }
      if (spent + reserved + wanted > limit && sums.open > 0) mustWait = true;
    }
  }
  return mustWait ? { ok: false, refusal: 'places' } : { ok: true };
}

/** The budget with other limits for the run (`of: null`), one of its roles, or each task. */
export function withLimits(budget: Budget, of: RoleName | 'task' | null, change: Partial<SpendLimit>): Budget {
  if (of === null) return { ...budget, ...change };
  if (of === 'task') return { ...budget, task: { ...budget.task, ...change } };
  return { ...budget, roles: { ...budget.roles, [of]: { ...(budget.roles[of] ?? UNLIMITED), ...change } } };
}
