// The index exports what the other tasks made.
import { create } from './edit.mjs';

create(
  'src/index.mjs',
  `export { formatCents } from './money.mjs';
export { reportLine } from './report.mjs';
export { slug } from './slug.mjs';
export { price, quantityOf } from './stock.mjs';
`,
);
