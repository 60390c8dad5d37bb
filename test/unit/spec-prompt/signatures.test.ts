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
export { hidden as shown } from './other';
export * from './all';
`;
    expect(signaturesOf('src/a.ts', text)).toMatchInlineSnapshot(`
     "export function add(a: number, b: number): number;
     export async function* stream<T extends object>(from: T[]): AsyncGenerator<T>;
     export const LIMIT: number;
     export const twice = (n: number): number => …;
     export const table = { …
     export interface Order { readonly id: string; lines: { sku: string }[] }
     export type Id = string | number;
     export enum Colour { Red, Green }
     export abstract class Cart<T> extends Base implements Order {
       readonly id: string = 'x';
       constructor(private readonly db: Db);
       total(tax: number): number;
       static of(): Cart<string>;
     }
     export default function main();
     export { hidden as shown } from './other';
     export * from './all';"
    `);
  });

  it('of JavaScript and of components work the same way', () => {
    expect(signaturesOf('a.mjs', 'export function a(b) { return b; }\nfunction c() {}')).toBe('export function a(b);');
    expect(signaturesOf('a.tsx', 'export function View(p: Props) { return <div>{p.x}</div>; }')).toBe(
      'export function View(p: Props);',
    );
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

class Cart(Base):
    total: int = 0

    def __init__(self, db):
        self.db = db

    @property
    def size(self) -> int:
        return 1

    def _check(self): pass
`;
    expect(signaturesOf('a.py', text)).toMatchInlineSnapshot(`
     "LIMIT = 3
     name: str = "x"
     def add(a: int, b: int = 2) -> int: ...
     async def fetch(url): ...
     class Cart(Base):
         total: int = 0
         def __init__(self, db): ...
         def size(self) -> int: ..."
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
