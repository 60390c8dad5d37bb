/** What the checks of validate.ts share: where they report to and what they know of the repository. */
import { globMatcher, globProblem, isLiteral, unescapeGlob } from './globs.ts';
import type { Problem } from './model.ts';
import type { PriceTable } from './prices.ts';
import { pathText, type PathPart } from './problems.ts';

export interface SpecContext {
  /** Paths of the base commit; null: not known yet (then fan-outs are not expanded and preset tests by path not resolved). */
  readonly files: readonly string[] | null;
  /** Text of a file of the base commit; null: there is none. */
  readonly fileContent?: (path: string) => string | null;
  /** Prices of models, first the user's; absent: budgets in money are not held against them here. */
  readonly prices?: readonly PriceTable[];
}

/** Collects problems; keeps quiet where the field's shape has been complained about already, since a stand-in is looked at there. */
export class Checking {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly files: readonly string[] | null;
  readonly fileSet: ReadonlySet<string>;
  readonly directories: ReadonlySet<string>;
  readonly content: (path: string) => string | null;
  readonly prices: readonly PriceTable[] | null;
  readonly #bad: readonly string[];
  readonly #said = new Set<string>();

  constructor(context: SpecContext, shapeProblems: readonly Problem[]) {
    this.files = context.files;
    this.fileSet = new Set(context.files);
    this.directories = directoriesOf(context.files ?? []);
    this.content = context.fileContent ?? (() => null);
    this.prices = context.prices ?? null;
    this.#bad = shapeProblems.map((problem) => problem.path).filter((path) => path !== '');
  }

  say(at: readonly PathPart[], message: string): void {
    this.#put(this.problems, at, message);
  }

  /** Accepted, but probably not what was meant, or without effect. */
  warn(at: readonly PathPart[], message: string): void {
    this.#put(this.warnings, at, message);
  }

  sayIf(at: readonly PathPart[], message: string | null): void {
    if (message !== null) this.say(at, message);
  }

  /** Reports what is wrong with a list of globs. */
  globs(at: readonly PathPart[], globs: readonly string[]): void {
    globs.forEach((glob, i) => {
      const why = globProblem(glob);
      if (why !== null) this.say([...at, i], why);
      else if (isLiteral(glob) && this.directories.has(unescapeGlob(glob))) {
        this.say([...at, i], `"${glob}" is a directory of the repository; for everything below it write "${glob}/**"`);
      }
    });
  }

  #put(to: Problem[], at: readonly PathPart[], message: string): void {
    const path = pathText(at);
    const key = `${path}\0${message}`;
    if (this.#said.has(key) || (path !== '' && this.#bad.some((bad) => within(bad, path) || within(path, bad)))) return;
    this.#said.add(key);
    to.push({ path, message });
  }
}

function within(inner: string, outer: string): boolean {
  return inner === outer || (inner.startsWith(outer) && '.['.includes(inner.charAt(outer.length)));
}

function directoriesOf(files: readonly string[]): Set<string> {
  const out = new Set<string>();
  for (const file of files) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      const directory = file.slice(0, at);
      if (out.has(directory)) break;
      out.add(directory);
    }
  }
  return out;
}

/** Which of some paths globs match, each glob asked once. */
export function matchingPaths(paths: readonly string[]): (glob: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  const set = new Set(paths);
  return (glob) => {
    let matched = known.get(glob);
    if (matched === undefined) {
      const literal = unescapeGlob(glob);
      matched = isLiteral(glob) ? (set.has(literal) ? [literal] : []) : paths.filter(globMatcher(glob));
      known.set(glob, matched);
    }
    return matched;
  };
}
