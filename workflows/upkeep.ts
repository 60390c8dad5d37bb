/** Small workflows that people start from the command line. */
import { mainlineActivities, readableFailure } from './proxies.ts';

/** Delivers `main` of a run that has ended. */
export async function deliverRun({ run }: { run: string }): Promise<string> {
  try {
    const { commit, pushed, fetch } = await mainlineActivities.deliverMain({ run });
    return pushed === null ? `main is ${commit}; fetch it with: ${fetch}` : `Pushed ${commit} to ${pushed}`;
  } catch (error) {
    throw readableFailure(error);
  }
}

/** Removes what `keepDays` allows: refs, hubs and rows of runs whose outcome is final. */
export async function collectGarbage({
  keepDays = null,
}: {
  keepDays?: number | null;
}): Promise<{ runs: number; refs: number; rows: number }> {
  return mainlineActivities.collectGarbage({ keepDays });
}
