/** What a run has cost so far, from the store: `swarmline cost`, and the end report. */
import { costReport } from '../spec/cost-report.ts';
import type { CostReport } from '../spec/cost-report.ts';
import type { PriceTable } from '../spec/prices.ts';
import { costFacts, costs, loadSpec } from '../store/index.ts';
import type { Db } from '../store/index.ts';

/**
 * @param prices for the comparison only: what calls cost was settled when they were made
 * @param ended true: it ends in this moment, nothing of it is tried again
 * @throws UnknownRun
 */
export async function runCost(
  db: Db,
  run: string,
  prices: readonly PriceTable[],
  { ended = false }: { readonly ended?: boolean } = {},
): Promise<CostReport> {
  const { roles } = await loadSpec(db, run);
  const entries = await costs(db, run);
  return costReport(
    ended ? entries.map((entry) => ({ ...entry, runEnded: true })) : entries,
    await costFacts(db, run),
    {
      plannerModel: roles.planner?.model ?? null,
      prices,
    },
  );
}
