/** What an attempt's agent is told: its task and the files that it names, as they are at the commit that it starts from. */
import { listTree, printablePath, readBlobs } from '../mainline/git.ts';
import type { LastFailure } from '../engines/index.ts';
import { anyGlob, isLiteral, unescapeGlob } from '../spec/globs.ts';
import { buildPrompt } from '../spec/prompt/index.ts';
import type { Attempt } from './agent-attempt.ts';
import type { AttemptDeps } from './attempt-ports.ts';

/** Of a prompt: some 50,000 tokens, which leaves most of a model's context for its work. */
const PROMPT_BYTES = 200_000;
/** A larger file is not shown: an agent reads what it needs of it. */
const FILE_BYTES = 256 * 1024;
const FILES = 200;

/** @param tree what is checked out for the agent. The prompt is kept as an artifact by whoever asks. */
export async function promptFor(
  { key, task, scratch }: Attempt,
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
  const matching = (globs: readonly string[]): string[] => {
    const matches = anyGlob(globs);
    return [...paths.keys()].filter(matches).slice(0, FILES);
  };
  const [allowed, references] = [matching(task.files.allow), matching(task.files.reference)];
  const wanted = [...new Set([...allowed, ...references])].flatMap((path) => {
    const file = paths.get(path)!;
    return file.size <= FILE_BYTES ? [file.oid] : [];
  });
  const blobs = await readBlobs(scratch.gitDir, wanted);
  const contentOf = (path: string): string => {
    const { oid, size } = paths.get(path)!;
    const blob = blobs.get(oid);
    if (blob === undefined) return `(${size} bytes: too large to be shown here)`;
    return blob.includes(0) ? `(${size} bytes that are no text)` : blob.toString('utf8');
  };
  const missing = task.files.allow
    .filter((glob) => isLiteral(glob) && !paths.has(unescapeGlob(glob)))
    .map((glob) => ({ path: unescapeGlob(glob), content: null }));
  const notices = await deps.store.takeNotices(key.run, key.task);
  return buildPrompt({
    task,
    allowed: [...allowed.map((path) => ({ path, content: contentOf(path) })), ...missing],
    references: references.map((path) => ({ path, content: contentOf(path) })),
    fieldGuide: null,
    notices: notices.map(({ commit, byTask, files }) => `${files.join(', ')} changed in ${commit} by task ${byTask}`),
    notes: [],
    lastFailure,
    tools: true,
    maxBytes: PROMPT_BYTES,
  }).text;
}
