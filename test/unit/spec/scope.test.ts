import { describe, expect, it } from '@jest/globals';
import { checkScope, mayWrite, type ScopeRules, type TreeChange } from '../../../spec/scope.ts';

const oid = 'a'.repeat(40);
const add = (path: string, more: Partial<TreeChange> = {}): TreeChange => ({
  path,
  validUtf8: true,
  oldMode: null,
  newMode: '100644',
  oldOid: null,
  newOid: oid,
  size: 10,
  ...more,
});
const change = (path: string, more: Partial<TreeChange> = {}): TreeChange =>
  add(path, { oldMode: '100644', oldOid: 'b'.repeat(40), ...more });
const remove = (path: string): TreeChange => change(path, { newMode: null, newOid: null, size: null });
const link = (path: string, linkTarget?: string): TreeChange =>
  add(path, { newMode: '120000', ...(linkTarget === undefined ? {} : { linkTarget }) });

const tree = ['src/a.ts', 'src/orders/b.ts', 'README.md'];
const siblings = (dir: string): string[] => [
  ...new Set(
    tree
      .filter((p) => dir === '' || p.startsWith(`${dir}/`))
      .map((p) => p.slice(dir === '' ? 0 : dir.length + 1).split('/')[0] as string),
  ),
];
const rules = (more: Partial<ScopeRules> = {}): ScopeRules => ({
  allow: ['**'],
  forbid: [],
  protected: [],
  presetTests: [],
  kind: 'work',
  manifests: ['**/package.json'],
  contracts: ['src/types/**'],
  maxFileBytes: 1000,
  siblings,
  ...more,
});
const broken = (changes: TreeChange[], more: Partial<ScopeRules> = {}): string[] =>
  checkScope(changes, rules(more)).map((v) => v.rule);

describe('the scope of a task', () => {
  it('accepts what is allowed', () => {
    expect(broken([add('src/new.ts'), change('src/a.ts'), remove('src/orders/b.ts')], { allow: ['src/**'] })).toEqual(
      [],
    );
  });
  it('refuses a file outside the allowed globs', () => {
    expect(broken([change('README.md')], { allow: ['src/**'] })).toEqual(['outside-scope']);
  });
  it('lets forbid win over allow', () => {
    expect(broken([change('src/a.ts')], { forbid: ['src/a.ts'] })).toEqual(['forbidden']);
    expect(mayWrite({ files: { allow: ['src/**'], forbid: ['src/a.ts'], reference: [] } }, 'src/a.ts')).toBe(false);
    expect(mayWrite({ files: { allow: ['src/**'], forbid: [], reference: [] } }, 'src/a.ts')).toBe(true);
  });
  it('refuses a deletion outside the scope', () => {
    expect(broken([remove('README.md')], { allow: ['src/**'] })).toEqual(['outside-scope']);
  });
  it('takes a rename as a deletion and an addition, both of which must be allowed', () => {
    expect(broken([remove('README.md'), add('src/readme.md')], { allow: ['src/**'] })).toEqual(['outside-scope']);
    expect(broken([remove('src/a.ts'), add('docs/a.ts')], { allow: ['src/**'] })).toEqual(['outside-scope']);
  });
  it('refuses protected files and preset tests even when they are allowed', () => {
    expect(broken([change('vitest.config.ts')], { protected: ['vitest.config.ts'] })).toEqual(['protected']);
    expect(broken([change('tests/x.test.ts')], { presetTests: ['tests/x.test.ts'] })).toEqual(['preset-test']);
  });
  it('lets only a dependency-update task change a manifest', () => {
    expect(broken([change('package.json')])).toEqual(['manifest']);
    expect(broken([change('package.json')], { kind: 'dependency-update' })).toEqual([]);
  });
  it('lets only an interface-change task change a contract', () => {
    expect(broken([change('src/types/order.ts')])).toEqual(['contract']);
    expect(broken([change('src/types/order.ts')], { kind: 'interface-change' })).toEqual([]);
  });
  it.each(['104755', '100664', '040000', '020000'])('refuses the file mode %s', (newMode) => {
    expect(broken([add('src/x', { newMode })])).toEqual(['mode']);
  });
  it('accepts an executable', () => {
    expect(broken([add('src/x', { newMode: '100755' })])).toEqual([]);
  });
  it('refuses submodules and .gitmodules', () => {
    expect(broken([add('vendor/x', { newMode: '160000' })])).toEqual(['submodule']);
    expect(broken([change('vendor/x', { oldMode: '160000', newMode: null })])).toEqual(['submodule']);
    expect(broken([add('.gitmodules')])).toEqual(['gitmodules']);
    expect(broken([add('GITMOD~1')])).toEqual(['gitmodules']);
  });
  it.each(['/etc/passwd', '../../x', '..\\..', 'C:/x', 'a/../../..', '', '../.git/config', '../.GIT/x', 'up/../x'])(
    'refuses a link to %j',
    (target) => {
      expect(broken([link('src/l', target)])).toEqual(['link-outside']);
    },
  );
  it('refuses a link that nobody read', () => {
    expect(broken([link('src/l')])).toEqual(['link-outside']);
  });
  it.each(['a.ts', '../README.md', './x/y', 'orders/b.ts'])('accepts a link to %j', (target) => {
    expect(broken([link('src/l', target)])).toEqual([]);
  });
  it('refuses .gitattributes as a link', () => {
    expect(broken([link('src/.gitattributes', 'a.ts')])).toEqual(['link-special']);
  });
  it('refuses a file over the limit', () => {
    expect(broken([add('src/big', { size: 1001 })])).toEqual(['too-large']);
  });
  it.each(['src/A.ts', 'Src/new.ts', 'readme.md', 'src/ORDERS'])(
    'refuses %s beside a name that differs only by case',
    (path) => {
      expect(broken([add(path)])).toEqual(['case-clash']);
    },
  );
  it('refuses two added names that differ only by case, and accepts a rename that changes case', () => {
    expect(broken([add('src/new/X.ts'), add('src/new/x.ts')])).toEqual(['case-clash', 'case-clash']);
    expect(broken([remove('src/a.ts'), add('src/A.ts')])).toEqual([]);
  });
  it('refuses names that differ only by Unicode normal form', () => {
    expect(broken([add('src/caf\u00e9.ts'), add('src/cafe\u0301.ts')])).toEqual(['unicode-clash', 'unicode-clash']);
  });
  it('does not blame a task for a clash that the base already holds', () => {
    expect(broken([change('src/A.ts')])).toEqual([]);
  });
  it.each([
    '.git/config',
    'src/.GIT/x',
    'src/.g\u200cit/x',
    'src/git~1',
    'src/.git. /x',
    'src/.git::$INDEX_ALLOCATION/x',
  ])('refuses the git-like component in %j', (path) => {
    expect(broken([add(path)])).toContain('git-component');
  });
  it.each(['src/con', 'src/NUL.txt', 'src/com1.ts', 'src/lpt9', 'src/dot.', 'src/blank '])(
    'refuses the name %j, which Windows cannot hold',
    (path) => {
      expect(broken([add(path)])).toEqual(['reserved-name']);
    },
  );
  it('accepts names that only look reserved', () => {
    expect(broken([add('src/console.ts'), add('src/auxiliary'), add('src/com10.ts')])).toEqual([]);
  });
  it('refuses a backslash in a name', () => {
    expect(broken([add('src/a\\b')])).toEqual(['backslash']);
  });
  it('refuses invalid UTF-8', () => {
    expect(broken([add('src/\\xff', { validUtf8: false })])).toContain('invalid-utf8');
  });
  it.each(['a/../b', '/a', 'a//b', './a'])('refuses the path %j', (path) => {
    expect(broken([add(path)])).toContain('path');
  });
  it('keeps odd but harmless names', () => {
    expect(broken([add('src/new\nline'), add('src/"quoted"'), add('src/-rf')])).toEqual([]);
  });
  it('names every rule that is broken, with its path', () => {
    expect(checkScope([change('package.json')], rules({ allow: ['src/**'], protected: ['package.json'] }))).toEqual([
      expect.objectContaining({ rule: 'outside-scope', path: 'package.json' }),
      expect.objectContaining({ rule: 'protected', path: 'package.json' }),
      expect.objectContaining({ rule: 'manifest', path: 'package.json' }),
    ]);
  });
});
