/**
 * What every benchmark gives back: rows of one shape, for `--json` and for the table. Pure.
 *
 * A budget is an upper bound: of `ratio` where the row has a peer, of `value` where it has none.
 */

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it was measured against in the same run; null: nothing. */
  readonly peer: string | null;
  /** In the row's unit. */
  readonly peerValue: number | null;
  /** value / peerValue. */
  readonly ratio: number | null;
  readonly budget: number | null;
  /** null: the row has no budget. */
  readonly holds: boolean | null;
}

export interface Measured {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly peer?: { readonly name: string; readonly value: number };
  readonly budget?: number | undefined;
}

export function row({ name, value, unit, peer, budget }: Measured): Row {
  const ratio = peer === undefined ? null : value / peer.value;
  return {
    name,
    value: rounded(value),
    unit,
    peer: peer?.name ?? null,
    peerValue: peer === undefined ? null : rounded(peer.value),
    ratio: ratio === null ? null : rounded(ratio),
    budget: budget ?? null,
    holds: budget === undefined ? null : (ratio ?? value) <= budget,
  };
}

/** Four significant digits, and never fewer than the whole number: what a figure of a busy machine is worth at most. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Rows as lines for a person. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((one) => [
    one.name,
    `${one.value} ${one.unit}`,
    one.peer === null ? '' : `${one.peer}: ${one.peerValue} ${one.unit}`,
    one.ratio === null ? '' : `× ${one.ratio}`,
    one.budget === null ? '' : `≤ ${one.budget}`,
    one.holds === null ? '' : one.holds ? 'holds' : 'DOES NOT HOLD',
  ]);
  const all = [['what', 'value', 'peer', 'ratio', 'budget', ''], ...cells];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  return all
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
