/** Columns of plain text, and text that fits a terminal. */

/** Rows with their columns aligned; numbers to the right. No trailing blanks. */
export function table(rows: readonly (readonly (string | number)[])[], indent = ''): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, String(cell).length);
    }
  }
  return rows.map((row) =>
    (
      indent +
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
        })
        .join('  ')
    ).trimEnd(),
  );
}

/** One line of at most `width` characters: line breaks become blanks, control characters go, an ellipsis ends what was cut. */
export function oneLine(text: string, width: number): string {
  const flat = printable(text).replace(/\s+/g, ' ').trim();
  return flat.length <= width ? flat : `${flat.slice(0, Math.max(0, width - 1))}…`;
}

/** Without escape sequences and other control characters: what an agent printed must not drive the reader's terminal. */
export function printable(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- control characters are what this removes
      .replace(/\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, '')
      // oxlint-disable-next-line no-control-regex -- the same
      .replace(/\r\n/g, '\n')
      // oxlint-disable-next-line no-control-regex -- the same
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  );
}
