/** Judging a head, finding who broke it, taking that one out: the steps of which `mainline` is made. */
import { ActivityFailure, isCancellation, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { GateLevel, GateStepName, Line, LineEntry, PlanTask } from '../spec/model.ts';
import { ejectionOf, entriesAfter } from '../spec/line.ts';
import { culpritIndex, nextProbe, observe, startSearch } from '../spec/search.ts';
import { attemptActivities, mainlineActivities, PRIORITY } from './proxies.ts';

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly step: GateStepName; readonly why: string };

/** @param base where `{changed}` counts from. @param only just these steps; undefined: all of the level. */
export async function judge(
  run: string,
  key: string,
  level: GateLevel,
  commit: string,
  base: string,
  only?: readonly GateStepName[],
): Promise<Verdict> {
  const input = { run, key, level, commit, base, task: null, attempt: null, onto: null, rerunRed: true };
  const result = await untilPossible(() =>
    attemptActivities.runGate.executeWithOptions(
      { summary: `${level} gate (${key}) on ${commit.slice(0, 10)}`, priority: PRIORITY.verification },
      [only === undefined ? input : { ...input, only }],
    ),
  );
  if (result.outcome !== 'red') return { ok: true };
  const step = result.steps.find(({ step: name }) => name === result.step);
  const failures = step?.failures.slice(0, 5).join(', ') ?? '';
  return { ok: false, step: result.step, why: [failures, step?.tail].filter(Boolean).join('\n') };
}

/**
 * A judgement that cannot be had (an image that is not on the host, say) is no red: nobody is blamed for it. It is named in the UI and tried
 * again, ever more slowly, until a person has mended what it names.
 */
async function untilPossible<T>(act: () => Promise<T>): Promise<T> {
  for (let waitMs = 15_000; ; waitMs = Math.min(waitMs * 2, 600_000)) {
    try {
      return await act();
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      setCurrentDetails(
        `The mainline cannot be judged: ${error.cause?.message ?? error.message}\n\nTried again in ${waitMs / 1000} s.`,
      );
      await sleep(waitMs, { summary: 'until the mainline can be judged' });
    }
  }
}

/** The first entry whose prefix of the line turns `step` red. `entries` lie above `base`, which is green; the last is red. */
export async function findCulprit(
  run: string,
  level: GateLevel,
  entries: readonly LineEntry[],
  base: string,
  step: GateStepName,
): Promise<LineEntry> {
  let search = startSearch(entries.length);
  for (let prefix = nextProbe(search); prefix !== null; prefix = nextProbe(search)) {
    const { ok } = await judge(run, 'probe', level, entries[prefix - 1]!.commit, base, [step]);
    search = observe(search, prefix, !ok);
  }
  return entries[culpritIndex(search)!]!;
}

export interface Ejection {
  readonly line: Line;
  readonly ejected: readonly LineEntry[];
  /** Innocents that no longer merge onto the rebuilt line. */
  readonly conflicts: readonly LineEntry[];
}

/** Rebuilds the line from `onto` without the culprit and what depends on it. */
export async function ejectCulprit(
  run: string,
  culprit: LineEntry,
  line: Line,
  onto: 'main' | 'verified',
  plan: readonly PlanTask[],
  why: string,
): Promise<Ejection> {
  const above = onto === 'main' ? line.entries : entriesAfter(line.entries, line.verified);
  const drop = ejectionOf(culprit, above, plan).map(({ request }) => request);
  return mainlineActivities.rebuildLine.executeWithOptions({ summary: `take out ${culprit.request}` }, [
    { run, onto, drop, culprit: culprit.request, why },
  ]);
}
