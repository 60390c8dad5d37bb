/**
 * The text of commits, and back.
 *
 * 1. Same input, same bytes: identity is fixed, dates come from the request. A retry makes the same commit.
 * 2. Every value is one line without control characters, so that nobody can add a trailer through a goal or a model's name.
 */
import { gitText } from './git-process.ts';
import type { GitOptions } from './git-process.ts';

export const IDENTITY = 'Swarmline <swarmline@localhost>';

export interface CommitInput {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** Milliseconds since the epoch; the commit's dates are whole seconds, UTC. */
  readonly atMs: number;
}

/** The bytes of a commit object. */
export function commitBody(input: CommitInput): string {
  const who = `${IDENTITY} ${Math.floor(input.atMs / 1000)} +0000`;
  const parents = input.parents.map((parent) => `parent ${parent}\n`).join('');
  return `tree ${input.tree}\n${parents}author ${who}\ncommitter ${who}\n\n${input.message.trimEnd()}\n`;
}

/** Writes a commit through git (fsynced as the repository's configuration says) and returns its id. */
export async function writeCommit(gitDir: string, input: CommitInput, options: GitOptions = {}): Promise<string> {
  return gitText(gitDir, ['hash-object', '-t', 'commit', '-w', '--stdin'], { ...options, input: commitBody(input) });
}

const SUBJECT_LENGTH = 120;

/** One line without control characters, at most 120 characters: fit to be a subject. */
export function subjectLine(text: string): string {
  const first = text.split('\n').find((line) => line.trim() !== '') ?? '';
  const clean = oneLine(first);
  return clean.length > SUBJECT_LENGTH ? `${clean.slice(0, SUBJECT_LENGTH - 1).trimEnd()}…` : clean;
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

export type Trailers = ReadonlyMap<string, string>;

/** subject, empty line, trailers. */
export function messageWithTrailers(subject: string, trailers: readonly (readonly [string, string])[]): string {
  const lines = trailers.map(([name, value]) => `${name}: ${oneLine(value)}`);
  return `${subjectLine(subject) || '(no subject)'}\n\n${lines.join('\n')}\n`;
}

/** The trailers of a message's last paragraph; none when the message has only one. */
export function trailersOf(message: string): Trailers {
  const paragraphs = message.trimEnd().split(/\n\n+/);
  const found = new Map<string, string>();
  if (paragraphs.length < 2) return found;
  for (const line of paragraphs[paragraphs.length - 1]!.split('\n')) {
    const match = /^([A-Za-z][A-Za-z0-9-]*): (.*)$/.exec(line);
    if (match !== null && !found.has(match[1]!)) found.set(match[1]!, match[2]!);
  }
  return found;
}
