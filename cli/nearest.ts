/** Which of many names may have been meant. Pure. */
import { distance } from 'fastest-levenshtein';

/** The names nearest to what was typed: those it is a part of first, then by edits, then by their own order. */
export function nearest(typed: string, names: readonly string[], shown = 3): string[] {
  return names
    .map((name, place) => ({ name, place, part: name.includes(typed) ? 0 : 1, edits: distance(typed, name) }))
    .toSorted((a, b) => a.part - b.part || a.edits - b.edits || a.place - b.place)
    .slice(0, shown)
    .map((found) => found.name);
}
