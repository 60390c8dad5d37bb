import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCents } from '../src/money.mjs';

test('an amount has two digits after the point', () => {
  assert.equal(formatCents(1950), '19.50');
});
