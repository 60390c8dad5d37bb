/** From a locale file's own boilerplate to the kit. Pure: text in, text out. */
import { Edits, nodes, parseTs } from './source.mjs';

const KIT_IMPORT = 'import * as kit from "../core/locale.js";\n';
const HELPERS = { getSizing: 'Sizable', getTypeName: 'TypeDictionary' };
const COMMON_WORDS = /^\{ unit: string; verb: string;? \}$/;

/**
 * @param {string} text
 * @param {{ownWords: boolean, strict: boolean}} options
 *   ownWords: the table of sizes keeps the type of its entries (else all are taken for `{ unit, verb }`);
 *   strict: helpers and types are replaced only where they are exactly the boilerplate, not merely by their name.
 */
export function migrate(text, { ownWords, strict }) {
  const program = parseTs(text);
  const edits = new Edits(text);
  const source = (node) => text.slice(node.start, node.end);
  const all = [...nodes(program)];
  const removed = new Set();

  for (const node of all) {
    if (node.type === 'FunctionDeclaration' && node.id?.name in HELPERS && (!strict || isBoilerplate(node, source))) {
      removed.add(node.id.name);
      edits.removeLines(node);
    }
  }
  for (const node of all) {
    if (node.type === 'VariableDeclarator' && node.id.typeAnnotation) {
      const type = node.id.typeAnnotation.typeAnnotation;
      const replaced = tableType(node.id.name, type);
      if (replaced !== null) edits.replace(type.start, type.end, replaced);
    } else if (node.type === 'CallExpression' && removed.has(node.callee.name)) {
      const name = node.callee.name;
      edits.replace(node.start, node.end, `kit.${name}(${HELPERS[name]}, ${source(node.arguments[0])})`);
    } else if (isTypeName(node)) {
      edits.replace(node.start, node.end, `kit.getTypeName(TypeDictionary, ${source(node.right)})`);
    } else if (node.type === 'TSTypeLiteral' && source(node) === '{ localeError: errors.$ZodErrorMap }') {
      edits.replace(node.start, node.end, 'kit.Locale');
    }
  }
  return imports(edits.toString());

  function tableType(name, type) {
    if (name === 'Sizable' && type.type === 'TSTypeReference' && source(type.typeName) === 'Record') {
      const words = source((type.typeParameters ?? type.typeArguments).params[1]);
      const keep = (ownWords || strict) && !COMMON_WORDS.test(words);
      return keep ? `kit.SizeTable<${words}>` : 'kit.SizeTable';
    }
    if (type.type !== 'TSTypeLiteral' && type.type !== 'TSMappedType') return null;
    const flat = source(type).replace(/\s+/g, ' ');
    if (/^\{ \[k in \$ZodStringFormats \| \(string & \{\}\)\]\?: string;? \}$/.test(flat)) return 'kit.FormatNames';
    if (/^\{ \[k in errors\.\$ZodInvalidTypeExpected \| \(string & \{\}\)\]\?: string;? \}$/.test(flat))
      return 'kit.TypeNames';
    return null;
  }

  /** `TypeDictionary[x] ?? x` */
  function isTypeName(node) {
    return (
      node.type === 'LogicalExpression' &&
      node.operator === '??' &&
      node.left.type === 'MemberExpression' &&
      node.left.computed &&
      source(node.left.object) === 'TypeDictionary' &&
      source(node.left.property) === source(node.right)
    );
  }
}

/** One parameter, one statement: `return <table>[parameter] ?? …`. */
function isBoilerplate(node, source) {
  const [parameter, ...more] = node.params;
  const [statement, ...rest] = node.body.body;
  if (parameter === undefined || more.length > 0 || rest.length > 0 || statement?.type !== 'ReturnStatement')
    return false;
  const fallback = node.id.name === 'getSizing' ? 'null' : parameter.name;
  return source(statement.argument) === `${HELPERS[node.id.name]}[${parameter.name}] ?? ${fallback}`;
}

/** The kit comes in where it belongs; what is not used any more goes. */
function imports(text) {
  const lines = text.split('\n');
  const imported = lines.filter((line) => line.startsWith('import '));
  const body = lines.filter((line) => !line.startsWith('import ')).join('\n');
  const kept = imported.filter((line) => {
    const name = /\{ (\S+) \}|\* as (\w+)|import (\w+) from/.exec(line);
    return name === null || body.includes(name[1] ?? name[2] ?? name[3]);
  });
  if (!body.includes('kit.')) return text;
  const kit = /\bkit\.get/.test(body) ? KIT_IMPORT : KIT_IMPORT.replace('import *', 'import type *');
  const at = kept.findIndex((line) => /"\.\.\/core\/(?!checks|errors)|"\.\/|"\.\.\/(?!core)/.test(line));
  kept.splice(at === -1 ? kept.length : at, 0, kit.trimEnd());
  return [...kept, body].join('\n');
}
