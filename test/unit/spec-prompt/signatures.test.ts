import { describe, expect, it } from '@jest/globals';
import { signaturesOf } from '../../../spec/prompt/index.ts';

describe('signatures', () => {
  it('of TypeScript are what is exported, without bodies and private members', () => {
    const text = `import { x } from './x';
const hidden = 1;
function internal() { return 2; }
/** Adds. */
export function add(a: number, b: number): number {
  const braces = { c: () => { return '}'; } };
  return a + b;
}
export async function* stream<T extends object>(from: T[]): AsyncGenerator<T> { yield* from; }
export const LIMIT: number = 3;
export const twice = (n: number): number => { return n * 2; };
export const table = {
  a: 1,
};
export interface Order { readonly id: string; lines: { sku: string }[] }
export type Id = string | number;
export enum Colour { Red, Green }
export abstract class Cart<T> extends Base implements Order {
  private secret = 1;
  #own = 2;
  readonly id: string = 'x';
  constructor(private readonly db: Db) { super(); }
  total(tax: number): number { return this.secret * tax; }
  private check(): void { throw new Error('{'); }
  static of(): Cart<string> { return new Cart(db); }
}
export default function main() { run(); }
export const pair = async <T>(a: T, b = () => { return 1; }): Promise<T> => { return a; }, other = 5;
export const [p, q]: [number, string] = both();
export const options = { verbose: true, run(x: number) { return x; }, nested: { a: 1 },
  more: 2 };
export namespace Units { export const KM = 1; const inner = 2; export function of(x: number) { return x; } }
export declare const later: string;
export function over(a: string): void;
export function over(a: any) { return a; }
export function defaults({ a, b = () => { return secret; } }: { a: string; b?: () => number }) { return a; }
@decorated() export class View { @input() name!: string; onClick = (e: Event) => { this.secret(); }; static { init(); } get size(): number { return 1; } }
export import legacy = require('legacy');
export { hidden as shown } from './other';
export { internal as inside };
export * from './all';
`;
    expect(signaturesOf('src/a.ts', text)).toMatchInlineSnapshot(`
     "function internal();
     export function add(a: number, b: number): number;
     export async function* stream<T extends object>(from: T[]): AsyncGenerator<T>;
     export const LIMIT: number;
     export const twice = (n: number): number => …;
     export const table = { a };
     export interface Order { readonly id: string; lines: { sku: string }[] }
     export type Id = string | number;
     export enum Colour { Red, Green }
     export abstract class Cart<T> extends Base implements Order {
       readonly id: string;
       constructor(private readonly db: Db);
       total(tax: number): number;
       static of(): Cart<string>;
     }
     export default function main();
     export const pair = async <T>(a: T, b = () => { … }): Promise<T> => …, other = 5;
     export const [p, q]: [number, string];
     export const options = { verbose, run(x: number), nested, more };
     export namespace Units {
       export const KM = 1;
       export function of(x: number);
     }
     export declare const later: string;
     export function over(a: string): void;
     export function over(a: any);
     export function defaults({ a, b = () => { … } }: { a: string; b?: () => number });
     export class View {
       @input() name!: string;
       onClick = (e: Event) => …;
       get size(): number;
     }
     export import legacy = require('legacy');
     export { hidden as shown } from './other';
     export { internal as inside };
     export * from './all';"
    `);
  });

  it('of declarations are those that others see: all of a script, what is exported of a module', () => {
    expect(signaturesOf('a.d.ts', 'declare const VERSION: string;\ninterface Global { a: 1 }\n')).toBe(
      'declare const VERSION: string;\ninterface Global { a: 1 }',
    );
    const text =
      'declare const own: string;\ndeclare global { interface Window { a: 1 } }\nexport const RULES = [\n  "a",\n  "b",\n];\n';
    expect(signaturesOf('a.ts', text)).toBe(
      'declare global { interface Window { a: 1 } }\nexport const RULES = [ "a", "b", ];',
    );
  });

  it('of JavaScript and of components work the same way', () => {
    expect(signaturesOf('a.mjs', 'export function a(b) { return b; }\nfunction c() {}')).toBe('export function a(b);');
    expect(signaturesOf('a.tsx', 'export function View(p: Props) { return <div>{p.x}</div>; }')).toBe(
      'export function View(p: Props);',
    );
  });

  it('of CommonJS are what is put into exports', () => {
    const text = `const a = require('a');
function add(x, y = () => { return 1; }) { return x + y; }
function hidden() {}
class Cart { total() { return 1; } #own = 1; }
exports.twice = function (n) { return n * 2; };
module.exports = { add, Cart, sub(x) { return x; } };
`;
    expect(signaturesOf('a.cjs', text)).toMatchInlineSnapshot(`
     "function add(x, y = () => { … });
     class Cart {
       total();
     }
     exports.twice = function (n);
     module.exports = { add, Cart, sub(x) };"
    `);
  });

  it('show no body, wherever it stands', () => {
    const body = 'secretBody()';
    for (const text of [
      `export function f() { ${body}; }`,
      `export const f = function () { ${body}; };`,
      `export default async () => { ${body}; };`,
      `export const f = (a = () => { ${body}; }) => 1;`,
      `export class A { m() { ${body}; } p = () => { ${body}; }; static { ${body}; } get g() { ${body}; } }`,
      `export default class { constructor() { ${body}; } }`,
      `export const o = { m() { ${body}; }, a: () => { ${body}; } };`,
      `export namespace N { export function f() { ${body}; } }`,
      `export const f = memo(() => { ${body}; });`,
      `export const f = async <T>(a: T) => { ${body}; };`,
      `module.exports = { m() { ${body}; } };`,
      `module.exports.f = () => { ${body}; };`,
    ]) {
      const shown = signaturesOf('a.ts', text);
      expect({ text, shown: shown.includes('secret') }).toEqual({ text, shown: false });
      expect(shown).not.toBe('');
    }
    expect(signaturesOf('a.py', `def f():\n    ${body}\nclass A:\n    def m(self): ${body}\n`)).not.toContain('secret');
  });

  it('of Python are functions, classes with their methods, and constants', () => {
    const text = `import os
LIMIT = 3
internal = 4
name: str = "x"

@cached
def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b

async def fetch(url): return await get(url)

def _hidden(): pass

def _named(): pass

__all__ = ["add", "_named"]
Point = namedtuple("Point", "x y")
type Pair = tuple[int, int]

if TYPE_CHECKING:
    def checked(a: int) -> None: ...

try:
    import fast
except ImportError:
    def fallback(a): return a

class Failure(Exception): pass

class Cart(Base):
    total: int = 0

    def __init__(self, db):
        self.db = db

    @property
    def size(self) -> int:
        return 1

    def _check(self): pass
    def __private(self): pass
    def __eq__(self, other): return True
    @staticmethod
    async def many(*, b: int = f(1, [2]), **more) -> dict[str, int]:
        def inner(): pass
        return {}
`;
    expect(signaturesOf('a.py', text)).toMatchInlineSnapshot(`
     "LIMIT = 3
     name: str = "x"
     @cached
     def add(a: int, b: int = 2) -> int: ...
     async def fetch(url): ...
     def _named(): ...
     Point = namedtuple("Point", "x y")
     type Pair = tuple[int, int]
     def checked(a: int) -> None: ...
     def fallback(a): ...
     class Failure(Exception): ...
     class Cart(Base):
         total: int = 0
         def __init__(self, db): ...
         @property
         def size(self) -> int: ...
         def __eq__(self, other): ...
         @staticmethod
         async def many(*, b: int = f(1, [2]), **more) -> dict[str, int]: ..."
    `);
  });

  it('of code that does not parse are what can be made out, and never an error', () => {
    expect(signaturesOf('a.ts', 'export function ok(): void {}\nexport class { ((( \nexport const')).toContain(
      'export function ok(): void;',
    );
    for (const text of ['', '}{', 'export', 'def', '\u0000', 'export const = =>']) {
      expect(typeof signaturesOf('a.ts', text)).toBe('string');
      expect(typeof signaturesOf('a.py', text)).toBe('string');
    }
  });

  it('of other languages are the head of the text, which says how much is missing', () => {
    expect(signaturesOf('a.go', 'package a\n')).toBe('package a\n');
    expect(signaturesOf('a.go', 'x\n'.repeat(100))).toMatch(/… \(61 more lines\)$/);
  });
});
