/**
 * The search for the first culprit on a red line: a bisection over prefixes of the line.
 *
 * Known: the line before the first entry is green, the line up to the last is red. Each probe judges one prefix by repeating the
 * failing step only. With an interaction of two good tasks the later of the two is named, because the prefix that holds
 * only the earlier one is green. ⌈log2 n⌉ probes for n entries.
 */
export interface Search {
  /** Number of entries in the longest prefix known to be green. */
  readonly green: number;
  /** Number of entries in the shortest prefix known to be red; its last entry is the culprit once `red = green + 1`. */
  readonly red: number;
}

/** @param entries number of merge commits above the green base; at least 1. */
export function startSearch(entries: number): Search {
  if (entries < 1) throw new RangeError(`A search needs at least one entry, not ${entries}`);
  return { green: 0, red: entries };
}

/** Length of the prefix to judge next, or null when the culprit is known. */
export function nextProbe({ green, red }: Search): number | null {
  return red - green > 1 ? green + Math.floor((red - green) / 2) : null;
}

export function observe(search: Search, prefix: number, isRed: boolean): Search {
  if (prefix <= search.green || prefix >= search.red) throw new RangeError(`Prefix ${prefix} is known already`);
  return isRed ? { ...search, red: prefix } : { ...search, green: prefix };
}

/** Index of the culprit in the line, or null while it is not known. */
export function culpritIndex(search: Search): number | null {
  return nextProbe(search) === null ? search.red - 1 : null;
}
