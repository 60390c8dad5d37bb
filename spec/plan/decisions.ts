/**
 * Decisions: one owner, one id, one document each; two that decide the same are found. Pure.
 *
 * 1. A decision is never changed: another supersedes it, and whoever refers to it is told by which.
 * 2. Of decisions that stand, no two are about the same subject or fix the same interface, or `clashes` names them.
 */

/** As the store keeps it. */
export interface Decision {
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  readonly interfaces: readonly string[];
  /** The planner (id of its scope) or the attempt (`<task>/<attempt>`) that made it. */
  readonly owner: string;
  /** null: it stands. */
  readonly supersededBy: string | null;
}

export const DECISION_ID = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;

/** Why this can be no id of a decision, or null. */
export function decisionIdProblem(id: string): string | null {
  if (DECISION_ID.test(id)) return null;
  return `${JSON.stringify(id.slice(0, 80))} must be a-z, 0-9, "." or "-", start and end with a letter or digit, and have at most 63 characters`;
}

export interface Clash {
  readonly a: string;
  readonly b: string;
  readonly owners: readonly [string, string];
  readonly why: 'subject' | 'interfaces' | 'reconciler';
  /** Of interfaces, those that both name; of a reconciler's, what it says. */
  readonly names: readonly string[];
}

/** Every pair of decisions that stand and decide the same, in their order. */
export function clashes(decisions: readonly Decision[]): Clash[] {
  const standing = decisions.filter(({ supersededBy }) => supersededBy === null);
  return standing.flatMap((b, j) =>
    standing.slice(0, j).flatMap((a): Clash[] => {
      const found = clashOf(a, b);
      return found === null ? [] : [{ a: a.id, b: b.id, owners: [a.owner, b.owner], ...found }];
    }),
  );
}

type Subject = Pick<Decision, 'subject' | 'interfaces'>;

/** Whether two decisions decide the same: same subject (order, number and filler of its words apart), or an interface of both. */
export function clashOf(
  a: Subject,
  b: Subject,
): { readonly why: 'subject' | 'interfaces'; readonly names: readonly string[] } | null {
  if (sameSubject(a.subject, b.subject)) return { why: 'subject', names: [] };
  const names = a.interfaces.filter((mine) => b.interfaces.some((theirs) => interfacesMeet(mine, theirs)));
  return names.length > 0 ? { why: 'interfaces', names } : null;
}

const FILLER = new Set(
  'a an the of for in on to and or is are be we how what which when use uses used using our all about with by from'.split(
    ' ',
  ),
);

function wordsOf(subject: string): Set<string> {
  const words = subject
    .normalize('NFKC')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !FILLER.has(word))
    .map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, '') : word));
  return new Set(words);
}

/** Four words of five in common (of both together) count as the same. */
const ALIKE = 0.8;

export function sameSubject(a: string, b: string): boolean {
  const [x, y] = [wordsOf(a), wordsOf(b)];
  if (x.size === 0 || y.size === 0) return a.trim().toLowerCase() === b.trim().toLowerCase();
  const common = [...x].filter((word) => y.has(word)).length;
  return common / (x.size + y.size - common) >= ALIKE;
}

/** `Orders.cancel(id)` is `Orders.cancel`, `GET /a/:id` is `GET /a/{key}`; `Orders` overlaps with `Orders.cancel`. */
export function interfacesMeet(a: string, b: string): boolean {
  const [x, y] = [nameOf(a), nameOf(b)];
  if (x === '' || y === '') return false;
  const [short, long] = x.length <= y.length ? [x, y] : [y, x];
  return short === long || (long.startsWith(short) && /^(?:\.|::|#)/.test(long.slice(short.length)));
}

function nameOf(written: string): string {
  const name = written.trim().replace(/^`|`$/g, '').replace(/\s+/g, ' ');
  return /\s\/|^\//.test(name)
    ? name.replace(/:\w+|\{[^}]*\}|<[^>]*>/g, '{}').replace(/\?.*$|\/$/, '')
    : name.replace(/\(.*$|<.*$/, '').trim();
}

/** The decisions with a new one that takes the place of `supersedes` ('' or null: of none). */
export function supersede(
  decisions: readonly Decision[],
  decision: Omit<Decision, 'supersededBy'>,
  supersedes: string | null,
): Decision[] {
  return [
    ...decisions.map((one) => (one.id === supersedes ? { ...one, supersededBy: decision.id } : one)),
    { ...decision, supersededBy: null },
  ];
}

/** The decision that stands in the place of this one, itself where it stands; null: there is none of that id. */
export function standingFor(decisions: readonly Decision[], id: string): Decision | null {
  const byId = new Map(decisions.map((one) => [one.id, one]));
  const seen = new Set<string>();
  let at = byId.get(id) ?? null;
  while (at !== null && at.supersededBy !== null && !seen.has(at.id)) {
    seen.add(at.id);
    at = byId.get(at.supersededBy) ?? null;
  }
  return at;
}
