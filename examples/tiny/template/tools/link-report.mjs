// Every line of the report ends with the item's address.
import { edit } from './edit.mjs';

edit('src/report.mjs', (text) =>
  text
    .replace('import { price,', "import { slug } from './slug.mjs';\nimport { price,")
    .replace('price(stock, item))}`;', 'price(stock, item))} /${slug(item)}`;'),
);
edit('test/report.test.mjs', (text) =>
  text.includes('/blue-pen')
    ? text
    : `${text}\ntest('a line ends with the address of the item', () => {\n  assert.match(reportLine({}, 'Blue Pen'), / \\/blue-pen$/);\n});\n`,
);
