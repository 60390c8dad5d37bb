import assert from 'node:assert/strict';
import { test } from 'node:test';
import { price, qty } from '../src/stock.mjs';

const stock = { pen: { count: 3, cents: 120 } };

test('an item that is not there counts zero', () => {
  assert.equal(qty(stock, 'cup'), 0);
  assert.equal(qty(stock, 'pen'), 3);
});

test('an item has a price', () => {
  assert.equal(price(stock, 'pen'), 120);
  assert.equal(price(stock, 'cup'), 0);
});
