/**
 * Measures of green points (`policy.evaluate`): started when a point is green, held up by nobody, awaited before the run ends.
 *
 * 1. Whatever comes of one, the run goes on: a measure judges nothing.
 * 2. What is under way when the run continues as new is asked for again; the store knows what was measured.
 */
import { condition, isCancellation } from '@temporalio/workflow';
import { attemptActivities, PRIORITY, readableFailure, recordActivities } from './proxies.ts';

export interface GreenPointToMeasure {
  readonly n: number;
  readonly commit: string;
}

export class Evaluations {
  readonly #run: string;
  readonly #wanted: boolean;
  readonly #open = new Map<number, GreenPointToMeasure>();

  constructor(run: string, wanted: boolean, carried: readonly GreenPointToMeasure[]) {
    this.#run = run;
    this.#wanted = wanted;
    for (const point of carried) this.start(point);
  }

  /** Returns at once. */
  start(point: GreenPointToMeasure): void {
    if (!this.#wanted || this.#open.has(point.n)) return;
    this.#open.set(point.n, point);
    void this.#measure(point).finally(() => this.#open.delete(point.n));
  }

  get open(): readonly GreenPointToMeasure[] {
    return [...this.#open.values()];
  }

  async settled(): Promise<void> {
    await condition(() => this.#open.size === 0);
  }

  async #measure({ n, commit }: GreenPointToMeasure): Promise<void> {
    const run = this.#run;
    try {
      await attemptActivities.evaluate.executeWithOptions(
        { summary: `measure green point ${n}`, priority: PRIORITY.evaluation },
        [{ run, n, commit }],
      );
    } catch (error) {
      if (isCancellation(error)) return; // the run ends
      const why = readableFailure(error);
      const message = `Green point ${n} could not be measured: ${why instanceof Error ? why.message : String(why)}`;
      await recordActivities
        .addLogEntry({ run, kind: 'evaluation', task: null, message, key: `evaluation/${n}` })
        .catch(() => undefined); // only a cancelled run ends this
    }
  }
}
