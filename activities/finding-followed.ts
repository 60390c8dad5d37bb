/** Which findings about earlier attempts the work that is reviewed now has followed (spec/finding-proof.ts). */
import { diffTrees } from '../mainline/git.ts';
import { isFollowed, touchedLines } from '../spec/finding-proof.ts';
import type { Touched } from '../spec/finding-proof.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { ReviewSubject } from './review-view.ts';
import type { Running } from './running.ts';
import { blobDiff } from './tree-diff.ts';

const WHOLE: readonly Touched[] = [{ from: 1, count: Number.MAX_SAFE_INTEGER }];

export async function markWhatWasFollowed(
  { key, commit, gitDir }: ReviewSubject,
  deps: AttemptDeps,
  running: Running,
): Promise<void> {
  const open = await deps.store.openFindings(key);
  const reviewed = [...new Set(open.map((one) => one.commit))];
  if (reviewed.length === 0) return;
  await deps.hub.ensure(key.run, reviewed, running.signal);
  const touched = new Map<string, readonly Touched[]>();
  for (const then of reviewed) {
    const files = new Set(open.filter((one) => one.commit === then).map(({ file }) => file));
    for (const { path, oldOid, newOid } of await diffTrees(gitDir, then, commit)) {
      if (!files.has(path)) continue;
      const whole = oldOid === null || newOid === null;
      touched.set(`${then} ${path}`, whole ? WHOLE : touchedLines(await blobDiff(gitDir, oldOid, newOid, 0)));
    }
  }
  const followed = open.filter(({ commit: then, file, line }) => {
    const lines = touched.get(`${then} ${file}`);
    return lines !== undefined && isFollowed(line, lines);
  });
  await deps.store.markFollowed(key.run, key.task, followed);
}
