// Adds slug(), which makes an item's name fit for an address.
import { create } from './edit.mjs';

create(
  'src/slug.mjs',
  `/** A name as a part of an address: lower case, words joined by "-". */
export function slug(name) {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
`,
);
create(
  'test/slug.test.mjs',
  `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slug } from '../src/slug.mjs';

test('blanks and signs become one dash', () => {
  assert.equal(slug(' Blue  Pen (new)'), 'blue-pen-new');
});
`,
);
