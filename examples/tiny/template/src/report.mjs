import { formatCents } from './money.mjs';
import { price, qty } from './stock.mjs';

/** One line of the report: item, count, value. */
export function reportLine(stock, item) {
  return `${item}: ${qty(stock, item)} = ${formatCents(qty(stock, item) * price(stock, item))}`;
}
