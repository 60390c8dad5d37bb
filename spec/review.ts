/**
 * Reviews: what a reviewer answers, and what its answers mean together. Pure.
 *
 * 1. An answer that cannot be read is no approval: it is asked for again, and when it stays so the review counts as missing.
 * 2. The policy decides, not the order in which verdicts come in.
 * 3. Findings reach the worker as the log of a failed gate step would.
 */
import * as z from 'zod';
import { jsonOf } from './plan/json-of.ts';
import type { Problem } from './model.ts';
import { problemsOf } from './problems.ts';

export const REVIEW_VIEWS = ['transcript', 'diff', 'tree'] as const;
export type ReviewView = (typeof REVIEW_VIEWS)[number];
export const SEVERITIES = ['blocking', 'major', 'minor'] as const;
export type Severity = (typeof SEVERITIES)[number];

const MAX_FINDINGS = 50;

const Finding = z.strictObject({
  severity: z.enum(SEVERITIES),
  /** null: of no file in particular. */
  file: z.string().min(1).max(1_000).nullable().default(null),
  line: z.int().min(1).max(10_000_000).nullable().default(null),
  text: z.string().trim().min(1).max(4_000),
});
const Verdict = z.strictObject({
  verdict: z.enum(['approve', 'reject']),
  findings: z.array(Finding).max(MAX_FINDINGS).default([]),
  summary: z.string().trim().max(4_000).default(''),
});
export type Finding = z.infer<typeof Finding>;
export type Verdict = z.infer<typeof Verdict>;

/** How a reviewer answers, for its prompt. */
export const VERDICT_PAGE = `End with one JSON object in a block fenced by \`\`\`json:

\`\`\`json
{
  "verdict": "reject",
  "findings": [
    {"severity": "blocking", "file": "src/orders.ts", "line": 12, "text": "A shipped order is cancelled; criterion 2 asks for 4002."}
  ],
  "summary": "One criterion is not met."
}
\`\`\`

- \`verdict\`: "approve" or "reject". Reject only with at least one finding that says why.
- \`findings\` (at most ${MAX_FINDINGS}): what is wrong, one entry each. \`severity\`: "blocking" (a criterion is not met, something breaks, a test proves nothing), "major" (should be changed, but works), "minor". \`file\` and \`line\` of the new state, or null.
- What tools for lint, types and tests find is checked elsewhere: look for what they cannot see.`;

export interface ReadVerdict {
  readonly verdict: Verdict | null;
  readonly problems: readonly Problem[];
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': ['verdict', 'findings', 'summary'],
  finding: ['severity', 'file', 'line', 'text'],
};

/** A verdict from what the reviewer said, or everything that is wrong with it. */
export function readVerdict(text: string): ReadVerdict {
  const found = jsonOf(text);
  return found.ok ? checkVerdict(found.value) : { verdict: null, problems: [{ path: '', message: found.why }] };
}

export function checkVerdict(input: unknown): ReadVerdict {
  const parsed = Verdict.safeParse(input);
  if (!parsed.success)
    return {
      verdict: null,
      problems: problemsOf(parsed.error.issues, (parts) => FIELDS[parts.length === 0 ? '' : 'finding'] ?? [], input),
    };
  const { verdict, findings } = parsed.data;
  const problems: Problem[] = [];
  if (verdict === 'reject' && findings.length === 0)
    problems.push({ path: 'findings', message: 'is empty, but the verdict is "reject"; say what is wrong' });
  if (verdict === 'approve' && findings.some(({ severity }) => severity === 'blocking'))
    problems.push({
      path: 'verdict',
      message: 'is "approve" beside a blocking finding; reject, or lower its severity',
    });
  return problems.length > 0 ? { verdict: null, problems } : { verdict: parsed.data, problems };
}

/** `any-blocking`: one blocking finding of anybody rejects. `majority`: more rejections than approvals reject. */
export const REVIEW_POLICIES = ['any-blocking', 'majority'] as const;
export type ReviewPolicy = (typeof REVIEW_POLICIES)[number];

export interface Review {
  /** Which reviewer: its place in the list of the spec. */
  readonly reviewer: number;
  readonly view: ReviewView;
  /** null: it gave none that can be read, in all its attempts. */
  readonly verdict: Verdict | null;
}

export type ReviewDecision =
  | { readonly decision: 'approved'; readonly findings: readonly FoundBy[] }
  | { readonly decision: 'rejected'; readonly findings: readonly FoundBy[] }
  /** Too many are missing to tell: a person decides, or they are asked again. */
  | { readonly decision: 'undecided'; readonly missing: readonly number[]; readonly findings: readonly FoundBy[] };

export type FoundBy = Finding & { readonly reviewer: number; readonly view: ReviewView };

export function decide(policy: ReviewPolicy, reviews: readonly Review[]): ReviewDecision {
  const findings = findingsOf(reviews);
  const missing = reviews.filter(({ verdict }) => verdict === null).map(({ reviewer }) => reviewer);
  const rejects = reviews.filter(({ verdict }) => verdict?.verdict === 'reject').length;
  const approves = reviews.filter(({ verdict }) => verdict?.verdict === 'approve').length;
  if (policy === 'any-blocking') {
    if (findings.some(({ severity }) => severity === 'blocking')) return { decision: 'rejected', findings };
    return missing.length > 0 ? { decision: 'undecided', missing, findings } : { decision: 'approved', findings };
  }
  if (rejects > approves + missing.length) return { decision: 'rejected', findings };
  if (approves >= rejects + missing.length && approves + rejects > 0) return { decision: 'approved', findings };
  return missing.length > 0
    ? { decision: 'undecided', missing, findings }
    : { decision: rejects > approves ? 'rejected' : 'approved', findings };
}

const RANK: Readonly<Record<Severity, number>> = { blocking: 0, major: 1, minor: 2 };

/** All findings, the worst first, then by file and line, then by reviewer: in an order that verdicts coming in do not change. */
export function findingsOf(reviews: readonly Review[]): FoundBy[] {
  return reviews
    .flatMap(({ reviewer, view, verdict }) => (verdict?.findings ?? []).map((one) => ({ ...one, reviewer, view })))
    .toSorted(
      (a, b) =>
        RANK[a.severity] - RANK[b.severity] ||
        compare(a.file ?? '', b.file ?? '') ||
        (a.line ?? 0) - (b.line ?? 0) ||
        a.reviewer - b.reviewer ||
        compare(a.text, b.text),
    );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Findings as the log of a red step: one block each, `file:line: severity: text`. */
export function findingsLog(findings: readonly FoundBy[]): string {
  return findings
    .map(({ file, line, severity, text, view }) => {
      const where = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `;
      const level = severity === 'minor' ? 'note' : severity === 'major' ? 'warning' : 'error';
      return `${where}${level} (${severity}, by the reviewer of the ${view}): ${text.replaceAll('\n', '\n    ')}`;
    })
    .join('\n');
}
