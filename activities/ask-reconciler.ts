/** Which decisions decide the same, by an agent that reads them all. */
import { createHash } from 'node:crypto';
import { openScratch } from '../sandbox/scratch.ts';
import { readClashes } from '../spec/plan/index.ts';
import type { Clash } from '../spec/plan/index.ts';
import type { Problem } from '../spec/model.ts';
import { buildReconcilerPrompt } from '../spec/prompt/index.ts';
import { askAgent } from './ask-agent.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { Running } from './running.ts';

/** Of entries of the work log that hold what a reconciler found, as data. */
export const CLASHES = 'clashes';
/** Its attempts stand beside those of tasks, under a name that no task can have. */
export const RECONCILER = 'plan:reconciler:';
const ASKS = 3;
const PROMPT_BYTES = 200_000;

export async function askReconciler({ run }: { run: string }, deps: AttemptDeps, running: Running): Promise<void> {
  const { store, hub } = deps;
  const { spec, decisions } = await store.plan(run);
  const standing = decisions.filter(({ supersededBy }) => supersededBy === null);
  const role = spec.roles.reconciler;
  if (role === undefined || standing.length < 2) return;
  const digest = createHash('sha256')
    .update(JSON.stringify(standing.map(({ id }) => id)))
    .digest('hex')
    .slice(0, 16);
  const entries = await store.workLog(run, { kinds: [CLASHES], limit: 1_000 });
  if (entries.some(({ key }) => key === `${CLASHES}/${digest}`)) return;
  const commit = await hub.resolve(run, 'verified', running.signal);
  const source = await hub.ensure(run, [commit], running.signal);
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: spec.repository.union });
  const attempt = 1 + entries.length * ASKS;
  try {
    let sentBack: readonly Problem[] = [];
    for (let ask = 0; ask < ASKS; ask++) {
      const key = { run, task: RECONCILER, attempt: attempt + ask };
      await store.startAttempt(key, { round: 1, host: deps.hostId, base: commit });
      const prompt = buildReconcilerPrompt({
        goal: spec.goal,
        decisions: standing,
        sentBack,
        maxBytes: PROMPT_BYTES,
      }).text;
      const said = await askAgent(
        { key, name: 'reconciler', spec, role, roleName: 'reconciler', commit, prompt, scratch },
        deps,
        running,
      );
      const read = said.ok
        ? readClashes(said.text, decisions)
        : { clashes: [], problems: [{ path: '', message: said.why }] };
      const why = read.problems.map(({ path, message }) => `${path === '' ? 'answer' : path}: ${message}`).join('\n');
      const outcome = !said.ok ? said.cause : why === '' ? 'passed' : 'answer';
      await store.endAttempt(key, { outcome, why, failureArtifact: null });
      // What it could not say it is not asked again before there is another decision.
      if (why === '' || ask === ASKS - 1) return await note(run, digest, read.clashes, why, deps);
      sentBack = said.ok ? read.problems : [];
    }
  } finally {
    await scratch.close();
  }
}

async function note(
  run: string,
  digest: string,
  clashes: readonly Clash[],
  why: string,
  deps: AttemptDeps,
): Promise<void> {
  const pairs = clashes.map(({ a, b }) => `${a} and ${b}`).join(', ');
  const message =
    why === ''
      ? `The reconciler looked at all decisions: ${pairs === '' ? 'none decide the same' : pairs}`
      : `The reconciler came to nothing: ${why}`;
  await deps.store.note(run, { key: `${CLASHES}/${digest}`, kind: CLASHES, message, data: clashes });
}
