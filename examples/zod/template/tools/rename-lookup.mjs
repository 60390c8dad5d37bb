/**
 * Gives the kit's lookup its final name: getSizing was what the locale files called their own copies, wordsFor says what it returns.
 * Renames it in the kit, its test and the locale files. When the compiler or a test says that files beyond these still use the old name, it
 * stays as a deprecated alias, because those files are not this task's to change.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { diagnostics, failureText, readTask, write } from './lib/task.mjs';
import { Edits, nodes, parseTs } from './lib/source.mjs';

const OLD = 'getSizing';
const NEW = 'wordsFor';
const KIT = 'src/v4/core/locale.ts';
const LOCALES = 'src/v4/locales';

const { lastFailure } = await readTask();
const users = readdirSync(LOCALES)
  .filter((name) => name.endsWith('.ts') && name !== 'index.ts')
  .map((name) => `${LOCALES}/${name}`);
const mine = new Set([KIT, 'src/v4/core/tests/locale.test.ts', ...users]);

for (const file of mine) {
  const text = readFileSync(file, 'utf8');
  const edits = new Edits(text);
  for (const node of nodes(parseTs(text))) {
    const declared = file === KIT && node.type === 'FunctionDeclaration' && node.id.name === OLD;
    const used = node.type === 'MemberExpression' && node.object.name === 'kit' && node.property.name === OLD;
    const name = declared ? node.id : used ? node.property : null;
    if (name !== null) edits.replace(name.start, name.end, NEW);
  }
  let result = edits.toString();
  if (file === KIT && othersUseIt(failureText(lastFailure))) {
    console.log(`Files beyond this task's use ${OLD}: keeping it as a deprecated alias.`);
    result += `\n/** @deprecated Use \`${NEW}\`. */\nexport const ${OLD}: typeof ${NEW} = ${NEW};\n`;
  }
  if (result !== text) write(file, result);
}

function othersUseIt(said) {
  const compiler = diagnostics(said).some((one) => one.message.includes(`'${OLD}'`) && !mine.has(one.file));
  return compiler || said.includes(`${OLD} is not a function`);
}
