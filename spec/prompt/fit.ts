/**
 * Sections of a prompt made to fit a number of bytes.
 *
 * 1. The text is at most `maxBytes` long, or nothing that may be cut is left and `leftOut` says that the limit is too small.
 * 2. Nothing is cut silently: what is left out is said in the text, under "Not shown here", and returned.
 * 3. The same input gives the same text. What goes first: the lowest `cut`; in it the part that has been reduced least; of those the
 *    last one or the longest, as its section says, and of equally long ones the first by name.
 */

/** Ways to show a part, from the whole to nothing; each is made only when it is needed. */
export interface Form {
  readonly text: () => string;
  /** What the prompt says about what this form does not show; null: it shows everything. */
  readonly missing: string | null;
}
export interface Part {
  readonly name: string;
  readonly forms: readonly Form[];
}
export interface Section {
  readonly title: string;
  /** Before the parts; kept while any of them is shown, and always when there are none. */
  readonly lead?: string;
  readonly parts: readonly Part[];
  /** null: never cut. */
  readonly cut: number | null;
  readonly first?: 'last' | 'longest';
}

/** Of one section, lines that say what is left out; the rest is counted. */
const TOLD = 30;

export interface BuiltPrompt {
  readonly text: string;
  /** Of the text in UTF-8. */
  readonly sizeBytes: number;
  /** What there was no room for, one line each. */
  readonly leftOut: readonly string[];
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

class Shown {
  readonly part: Part;
  readonly section: Section;
  form = 0;
  readonly #made = new Map<number, { text: string; bytes: number }>();

  constructor(part: Part, section: Section) {
    this.part = part;
    this.section = section;
  }

  get now(): { text: string; bytes: number } {
    let made = this.#made.get(this.form);
    if (made === undefined) {
      const text = this.part.forms[this.form]?.text() ?? '';
      made = { text, bytes: bytesOf(text) };
      this.#made.set(this.form, made);
    }
    return made;
  }

  get canShrink(): boolean {
    return this.section.cut !== null && this.form < this.part.forms.length - 1;
  }

  get missing(): string | null {
    return this.part.forms[this.form]?.missing ?? null;
  }
}

/** @param whole what is never cut, for the message that the limit is too small: "the task itself" */
export function fit(sections: readonly Section[], maxBytes: number, whole: string): BuiltPrompt {
  const groups = sections.map((section) => section.parts.map((part) => new Shown(part, section)));
  const all = groups.flat();
  for (;;) {
    // Rough first, since putting everything together costs more than a sum.
    const least = all.reduce((sum, { now }) => sum + now.bytes, 0);
    if (least <= maxBytes) {
      const leftOut = groups.flatMap(toldOf);
      const text = assemble(sections, groups, leftOut);
      const sizeBytes = bytesOf(text);
      if (sizeBytes <= maxBytes) return { text, sizeBytes, leftOut };
    }
    const next = nextToCut(all);
    if (next !== undefined) {
      next.form += 1;
      continue;
    }
    const leftOut = [...groups.flatMap(toldOf), `the limit of ${maxBytes} bytes is less than ${whole}`];
    const text = assemble(sections, groups, leftOut);
    return { text, sizeBytes: bytesOf(text), leftOut };
  }
}

function nextToCut(all: readonly Shown[]): Shown | undefined {
  let best: Shown | undefined;
  for (const one of all) if (one.canShrink && (best === undefined || goesBefore(one, best))) best = one;
  return best;
}

/** @param b stands before `a` in the prompt */
function goesBefore(a: Shown, b: Shown): boolean {
  if (a.section.cut !== b.section.cut) return a.section.cut! < b.section.cut!;
  if (a.form !== b.form) return a.form < b.form;
  if (a.section.first !== 'longest') return true;
  return a.now.bytes !== b.now.bytes ? a.now.bytes > b.now.bytes : a.part.name < b.part.name;
}

function toldOf(shown: readonly Shown[]): string[] {
  const lines = shown.flatMap(({ missing }) => missing ?? []);
  return lines.length <= TOLD ? lines : [...lines.slice(0, TOLD), `and ${lines.length - TOLD} more like these`];
}

function assemble(
  sections: readonly Section[],
  groups: readonly (readonly Shown[])[],
  leftOut: readonly string[],
): string {
  const written = sections.flatMap(({ title, lead = '', parts }, i) => {
    const shown = groups[i]!.flatMap(({ now }) => (now.text === '' ? [] : now.text));
    if (shown.length === 0 && (parts.length > 0 || lead === '')) return [];
    return [`# ${title}\n\n${[lead, ...shown].filter((text) => text !== '').join('\n\n')}`];
  });
  if (leftOut.length > 0) written.push(`# Not shown here\n\n${leftOut.map((line) => `- ${line}`).join('\n')}`);
  return `${written.join('\n\n')}\n`;
}
