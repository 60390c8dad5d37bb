/** Judging a head, finding who broke it, taking that one out: the steps of which `mainline` is made. */
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
  const result = await attemptActivities.runGate.executeWithOptions(
    { summary: `${level} gate (${key}) on ${commit.slice(0, 10)}`, priority: PRIORITY.verification },
    [
      {
        run,
        key,
        level,
        commit,
        base,
        task: null,
        attempt: null,
        onto: null,
        rerunRed: true,
        ...(only === undefined ? {} : { only }),
      },
    ],
  );
  if (result.outcome !== 'red') return { ok: true };
  const step = result.steps.find(({ step: name }) => name === result.step);
  const failures = step?.failures.slice(0, 5).join(', ') ?? '';
  return { ok: false, step: result.step, why: [failures, step?.tail.slice(-600)].filter(Boolean).join('\n') };
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
    { run, onto, drop, why },
  ]);
}
