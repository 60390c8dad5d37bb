/**
 * The codemod: moves one locale file from its own copy of the boilerplate to the shared kit. Argument: the file.
 *
 * It begins with what fits nearly every file, and what the compiler or the tests said about the last result decides what it does otherwise:
 * - the compiler rejects the table of sizes, or the linter finds the type of its words unused → the file's words have a shape of their own,
 *   which is then given to the kit's type;
 * - tests of the messages fail, or a function is left that only a replaced one called → the file is not like the others: only what is exactly
 *   the boilerplate is replaced.
 */
import { readFileSync } from 'node:fs';
import { migrate } from './lib/migrate.mjs';
import { diagnostics, failedTests, failureText, giveUp, lintFindings, readTask, write } from './lib/task.mjs';

const file = process.argv[2] ?? giveUp('Usage: use-locale-kit.mjs FILE');
const { lastFailure } = await readTask();
const said = failureText(lastFailure);

/** A value that does not fit a type, a property that is not there: what the wrong type of a table leads to. */
const WRONG_SHAPE = new Set(['TS2322', 'TS2339', 'TS2345', 'TS2353', 'TS2551', 'TS2739', 'TS2740', 'TS2741']);
const wrongShape = diagnostics(said).some((one) => one.file === file && WRONG_SHAPE.has(one.code));
/** Is something of this kind used by nothing any more, now that the codemod has been here? */
const orphaned = (kind) =>
  lintFindings(said).some(
    (one) => one.file === file && new RegExp(`^${kind} '\\w+' is declared but never used`).test(one.message),
  );
const ownWords = wrongShape || orphaned('(?:Interface|Type alias)');
const strict = orphaned('Function') || failedTests(said).some((test) => test.startsWith('src/v4/'));
if (ownWords) console.log('The table of sizes was rejected: keeping the shape of its words.');
if (strict) console.log('More than boilerplate was replaced: replacing only what is exactly the boilerplate.');

write(file, migrate(readFileSync(file, 'utf8'), { ownWords, strict }));
