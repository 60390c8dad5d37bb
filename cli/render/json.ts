/** A run as one JSON object: the snapshot, and what status derives from it. Pure. */
import type { RunOverview } from '../../store/index.ts';
import { pace } from './estimate.ts';
import { needsPerson, waits } from './waiting.ts';
import type { WaitLine } from './waiting.ts';

export const overviewJson = (overview: RunOverview, missing: readonly WaitLine[] = []): Record<string, unknown> => ({
  ...overview,
  /** leftMs is an estimate: `remaining` at `perHour`. */
  pace: pace(overview),
  waiting: waits(overview, missing),
  needsPerson: needsPerson(overview),
});
