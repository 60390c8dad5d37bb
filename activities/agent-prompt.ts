/** What an attempt's agent is told: its task and the files that it names, as they are at the commit that it starts from. */
import { listTree, printablePath, readBlobs } from '../mainline/git.ts';
import { promptBytes } from '../engines/index.ts';
import type { LastFailure } from '../engines/index.ts';
import { anyGlob, isLiteral, unescapeGlob } from '../spec/globs.ts';
import { brokenReferences } from '../spec/plan/index.ts';
import { pathInText } from '../spec/prompt/fence.ts';
import { buildPrompt, guideIndex, guideRules } from '../spec/prompt/index.ts';
import type { NamedText } from '../spec/prompt/index.ts';
import type { Attempt } from './agent-attempt.ts';
import { agentsNotes } from './agents-notes.ts';
import type { AttemptDeps } from './attempt-ports.ts';

/** Of a prompt: some 50,000 tokens, which leaves most of a model's context for its work. */
const PROMPT_BYTES = 200_000;
/** A larger file is not shown: an agent reads what it needs of it. */
const FILE_BYTES = 256 * 1024;
const FILES = 200;
/** Newest entries of the work log. */
const NOTES = 20;

/** @param tree what is checked out for the agent. The prompt is kept as an artifact by whoever asks. */
export async function promptFor(
  { key, spec, task, engine, scratch }: Attempt,
  tree: string,
  lastFailure: LastFailure | null,
  deps: AttemptDeps,
): Promise<string> {
  const entries = await listTree(scratch.gitDir, tree);
  const paths = new Map(
    entries
      .filter((entry) => entry.type === 'blob' && entry.mode !== '120000')
      .map((entry) => [printablePath(entry.path).path, { oid: entry.oid, size: entry.size ?? 0 }]),
  );
  const unread: { path: string; why: string }[] = [];
  const matching = (globs: readonly string[], what: string): string[] => {
    const matches = anyGlob(globs);
    const all = [...paths.keys()].filter(matches);
    if (all.length > FILES)
      unread.push({ path: globs.join(', '), why: `${all.length - FILES} more ${what}, beyond ${FILES}` });
    return all.slice(0, FILES);
  };
  const allowed = matching(task.files.allow, 'files that you may change');
  const references = matching(task.files.reference, 'files to refer to');
  const index = guideIndex(guideRules(spec.repository.fieldGuide));
  const wanted = [...new Set([...allowed, ...references, ...(paths.has(index) ? [index] : [])])];
  const blobs = await readBlobs(
    scratch.gitDir,
    wanted.flatMap((path) => (paths.get(path)!.size <= FILE_BYTES ? [paths.get(path)!.oid] : [])),
  );
  const shown = new Map<string, string>();
  for (const path of wanted) {
    const { oid, size } = paths.get(path)!;
    const blob = blobs.get(oid);
    if (blob === undefined) unread.push({ path, why: `${size} bytes, too large to be shown here` });
    else if (blob.includes(0)) unread.push({ path, why: `${size} bytes that are no text` });
    else shown.set(path, blob.toString('utf8'));
  }
  const textsOf = (files: readonly string[]): NamedText[] =>
    files.flatMap((path) => (shown.has(path) ? [{ path, content: shown.get(path)! }] : []));
  const missing = task.files.allow
    .filter((glob) => isLiteral(glob) && !paths.has(unescapeGlob(glob)))
    .map((glob) => ({ path: unescapeGlob(glob), content: null }));
  const notices = await deps.store.takeNotices(key.run, key.task);
  const decisions = await deps.store.decisions(key.run);
  const stale = brokenReferences(
    textsOf(allowed).map(({ path, content }) => ({ path, text: content })),
    decisions,
  ).filter(({ why }) => why === 'superseded');
  return buildPrompt({
    task,
    allowed: [...textsOf(allowed), ...missing],
    references: textsOf(references),
    unread,
    fieldGuide: shown.get(index) ?? null,
    notices: [
      ...stale.map(({ path, line, message }) => `${pathInText(path)}:${line}: ${message}`),
      ...notices.map(({ commit, byTask, files }) => `${files.join(', ')} changed in ${commit} by task ${byTask}`),
    ],
    notes: (await agentsNotes(key.run, deps)).slice(-NOTES),
    lastFailure,
    tools: true,
    maxBytes: promptBytes(PROMPT_BYTES, engine),
  }).text;
}
