import { ApplicationFailure } from '@temporalio/common';
import { withLimits } from '../spec/budget.ts';
import type { Budget, Problem, SpendLimit } from '../spec/model.ts';
import { unpricedRoles } from '../spec/prices.ts';
import type { PriceTable } from '../spec/prices.ts';
import { budgetOf, loadSpec, setBudget, spendOf } from '../store/index.ts';
import type { Db } from '../store/index.ts';
import type { RecordActivities } from './contract.ts';

/**
 * The new limits of a run, as far as they are given. Refused: a limit below what is spent, which would stop the run again at once, and one
 * in money that could not be held, as at submission.
 */
export async function raiseBudget(
  db: Db,
  prices: readonly PriceTable[],
  { run, of, usd, tokens }: Parameters<RecordActivities['raiseBudget']>[0],
): Promise<{ text: string }> {
  const change = { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) };
  if (Object.keys(change).length === 0) throw refused('Say what is raised: --usd N, --tokens N, or both.');
  const budget = withLimits(await budgetOf(db, run), of, change);
  const spent = of === 'task' ? null : ((await spendOf(db, run)).get(of === null ? 'run' : `role:${of}`) ?? null);
  if (spent !== null && change.usd !== undefined && change.usd !== null && change.usd * 1e6 <= spent.microusd) {
    throw refused(`${(spent.microusd / 1e6).toFixed(2)} USD are spent already: raise it above that.`);
  }
  if (spent !== null && change.tokens !== undefined && change.tokens !== null && change.tokens <= spent.tokens) {
    throw refused(`${spent.tokens} tokens are spent already: raise it above that.`);
  }
  const [unpriced] = change.usd === undefined || change.usd === null ? [] : await unpricedOf(db, run, budget, prices);
  if (unpriced !== undefined) throw refused(`${unpriced.path}: ${unpriced.message}`);
  await setBudget(db, run, budget);
  const limits = of === null ? budget : of === 'task' ? budget.task : budget.roles[of];
  return {
    text: `The budget of ${of === null ? run : of === 'task' ? 'each task' : `the role ${of}`} is ${said(limits)}`,
  };
}

async function unpricedOf(db: Db, run: string, budget: Budget, prices: readonly PriceTable[]): Promise<Problem[]> {
  const { roles, reviewers, engines } = await loadSpec(db, run);
  return unpricedRoles({ roles: { ...roles, reviewer: reviewers }, engines, budget }, prices);
}

const said = (limits: SpendLimit | undefined): string =>
  [
    limits?.usd === null || limits === undefined ? 'no limit in USD' : `${limits.usd} USD`,
    limits?.tokens === null || limits === undefined ? 'no limit in tokens' : `${limits.tokens} tokens`,
  ].join(', ');

const refused = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'Refused', nonRetryable: true });
