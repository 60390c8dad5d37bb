import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportLine } from '../src/index.mjs';

test('a line names item, count and value', () => {
  assert.match(reportLine({ pen: { count: 3, cents: 120 } }, 'pen'), /pen: 3 = 3\.60/);
});
