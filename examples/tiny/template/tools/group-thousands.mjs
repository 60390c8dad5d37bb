// formatCents groups thousands: 1234567 → 12,345.67.
import { edit } from './edit.mjs';

edit('src/money.mjs', (text) =>
  text.replace(
    'return (cents / 100).toFixed(2);',
    "const [whole, rest] = (cents / 100).toFixed(2).split('.');\n  return `${whole.replace(/\\B(?=(\\d{3})+$)/g, ',')}.${rest}`;",
  ),
);
edit('test/money.test.mjs', (text) =>
  text.includes('12,345.67')
    ? text
    : `${text}\ntest('thousands are grouped', () => {\n  assert.equal(formatCents(1234567), '12,345.67');\n});\n`,
);
