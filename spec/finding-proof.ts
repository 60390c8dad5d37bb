/**
 * Whether what a reviewer found later proved right. Pure.
 *
 * The first of these that is known decides:
 * 1. what a person said;
 * 2. the mainline: the work turned it red and was taken out, which a blocking or major finding had foreseen: right;
 * 3. a later attempt of the task changed the lines (or, without a line, the file) that the finding names: right;
 * 4. the attempt was rejected, and the task landed later with those lines as they were: wrong.
 * Everything else is open. A finding of no file in particular is open until a person or the mainline says something. What others landed in
 * the same lines meanwhile counts as a change as well; tasks of one wave write different files, so that is rare.
 */
import type { FoundBy, ReviewView, Severity } from './review.ts';

export type Proof = 'right' | 'wrong' | 'open';

export interface FindingFacts {
  readonly severity: Severity;
  readonly file: string | null;
  readonly said: 'right' | 'wrong' | null;
  readonly followed: boolean;
  /** Of the attempt that it is about. */
  readonly outcome: string | null;
  /** A later attempt of the task landed. */
  readonly landedLater: boolean;
}

export function proofOf({ severity, file, said, followed, outcome, landedLater }: FindingFacts): Proof {
  if (said !== null) return said;
  if (outcome === 'ejected' && severity !== 'minor') return 'right';
  if (followed) return 'right';
  return outcome === 'rejected' && landedLater && file !== null ? 'wrong' : 'open';
}

/** Lines of the older side that a difference touches; `count` 0: something was put in after `from`. */
export interface Touched {
  readonly from: number;
  readonly count: number;
}

/** The older side of a unified diff without context. */
export function touchedLines(diff: string): Touched[] {
  return [...diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+/gm)].map(([, from, count]) => ({
    from: Number(from),
    count: count === undefined ? 1 : Number(count),
  }));
}

/** Lines: a fix may stand beside the line that the finding names. */
const NEAR = 5;

export function isFollowed(line: number | null, touched: readonly Touched[]): boolean {
  if (line === null) return touched.length > 0;
  return touched.some(({ from, count }) => line >= from - NEAR && line <= from + Math.max(0, count - 1) + NEAR);
}

export interface ReviewFacts {
  readonly reviewer: number;
  readonly view: ReviewView;
  readonly engine: string;
  readonly model: string | null;
  readonly verdict: 'approve' | 'reject' | null;
  readonly findings: readonly FindingFacts[];
}

/** One reviewer over a run. */
export interface ReviewerRecord extends Pick<ReviewFacts, 'reviewer' | 'view' | 'engine' | 'model'> {
  readonly reviews: number;
  readonly rejected: number;
  /** Gave no verdict that can be read. */
  readonly missing: number;
  readonly findings: number;
  readonly right: number;
  readonly wrong: number;
}

/** In the order of the spec. What is minor counts like the rest: who finds only trifles shows it in the number of rejections. */
export function reviewerRecords(reviews: readonly ReviewFacts[]): ReviewerRecord[] {
  const records = new Map<number, ReviewerRecord>();
  for (const { reviewer, view, engine, model, verdict, findings } of reviews) {
    const before = records.get(reviewer) ?? { reviewer, view, engine, model, reviews: 0, rejected: 0, missing: 0, findings: 0, right: 0, wrong: 0 }; // prettier-ignore
    const proofs = findings.map(proofOf);
    records.set(reviewer, {
      ...before,
      reviews: before.reviews + 1,
      rejected: before.rejected + (verdict === 'reject' ? 1 : 0),
      missing: before.missing + (verdict === null ? 1 : 0),
      findings: before.findings + findings.length,
      right: before.right + proofs.filter((proof) => proof === 'right').length,
      wrong: before.wrong + proofs.filter((proof) => proof === 'wrong').length,
    });
  }
  return [...records.values()].toSorted((a, b) => a.reviewer - b.reviewer);
}

/** How a person names a finding of an attempt: `<reviewer>.<n>`, both from 1. */
export const findingName = ({ reviewer }: Pick<FoundBy, 'reviewer'>, n: number): string => `${reviewer + 1}.${n + 1}`;

export function readFindingName(name: string): { readonly reviewer: number; readonly n: number } | null {
  const match = /^([1-9]\d{0,3})\.([1-9]\d{0,3})$/.exec(name);
  return match === null ? null : { reviewer: Number(match[1]) - 1, n: Number(match[2]) - 1 };
}
