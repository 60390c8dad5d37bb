/** How planners plan where a test's spec does not say. */
import type { Planning } from '../../spec/model.ts';
import { DEFAULT_BOUNDS, NO_LIMITS } from '../../spec/plan/index.ts';

export const PLANNING: Planning = { bounds: DEFAULT_BOUNDS, asks: 4, calls: 20, replan: [], refuse: NO_LIMITS };
