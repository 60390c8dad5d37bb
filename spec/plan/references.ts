/**
 * References of code to decisions: `swarm:decision <id>` in a comment. Pure.
 *
 * A change of a decision reaches whoever follows it because the gate fails on a reference to what was superseded.
 */
import { didYouMean } from '../problems.ts';
import { standingFor } from './decisions.ts';
import type { Decision } from './decisions.ts';

export interface Reference {
  readonly id: string;
  /** From 1. */
  readonly line: number;
}

/** The mark split, so that this file itself refers to nothing. What `git grep -i` looks for. */
export const REFERENCE_MARK = ['swarm', 'decision'].join(':');
const MARK = new RegExp(`${REFERENCE_MARK}[ \\t]+([a-z0-9][a-z0-9.-]{0,62})`, 'gi');

export function decisionReferences(text: string): Reference[] {
  const out: Reference[] = [];
  let line = 1;
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    for (; at < match.index; at++) if (text.charCodeAt(at) === 10) line++;
    out.push({ id: match[1]!.toLowerCase().replace(/[.-]+$/, ''), line });
  }
  return out;
}

export interface BrokenReference extends Reference {
  readonly path: string;
  readonly why: 'missing' | 'superseded';
  /** One line for a log: what to do about it. */
  readonly message: string;
}

export interface ReferringFile {
  readonly path: string;
  readonly text: string;
  /** What it said before the change that is judged: a decision that was unknown then already is not that change's mistake. */
  readonly before?: string;
}

/** References to decisions that do not exist or no longer stand. */
export function brokenReferences(files: readonly ReferringFile[], decisions: readonly Decision[]): BrokenReference[] {
  const byId = new Map(decisions.map((decision) => [decision.id, decision]));
  return files.flatMap(({ path, text, before = '' }) => {
    const old = new Set(decisionReferences(before).map(({ id }) => id));
    return decisionReferences(text).flatMap(({ id, line }): BrokenReference[] => {
      const decision = byId.get(id);
      if (decision === undefined) {
        if (old.has(id)) return [];
        const message = `there is no decision "${id}"${didYouMean(id, [...byId.keys()])}`;
        return [{ path, line, id, why: 'missing', message }];
      }
      if (decision.supersededBy === null) return [];
      const now = standingFor(decisions, id);
      const follow = now === null ? '' : `: follow "${now.id}" (${now.subject}) and refer to it`;
      return [{ path, line, id, why: 'superseded', message: `the decision "${id}" was superseded${follow}` }];
    });
  });
}

/** What the gate step prints when it is red; '' when it is green. */
export function referenceReport(broken: readonly BrokenReference[]): string {
  return broken.map(({ path, line, message }) => `${path}:${line}: error: ${message}`).join('\n');
}
