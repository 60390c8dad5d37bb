/** One engine that a spec describes: its name, its placeholders, its environment. No message repeats what may be a secret. */
import type { Checking } from './checking.ts';
import { ENGINES, PLACEHOLDERS, type Placeholder } from './fields-engines.ts';
import type { RawSpec } from './fields.ts';
import { idProblem } from './names.ts';
import { nearest, type PathPart } from './problems.ts';

type RawEngine = RawSpec['engines'][string];

/** Set for every engine that has the gateway (engines/forwarder.ts, gatewayEnvironment). */
export const GATEWAY_VARIABLES: readonly string[] = [
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_API_KEY',
  'OPENAI_BASE_URL',
  'OPENAI_API_BASE',
  'OPENAI_API_KEY',
];
const KEY_NAME = /(?:^|[-_])(?:api[-_]?key|access[-_]?key|secret|token|password|passwd)$/i;
const NO_SECRETS =
  'no secret goes into a container; write "{key}", for which a CLI gets a word without meaning, and the gateway adds the real key (SWARMLINE_UPSTREAMS)';

const isPlaceholder = (name: string): name is Placeholder => (PLACEHOLDERS as readonly string[]).includes(name);
const namesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);

/** The placeholders that stand in its command or environment. */
export function placeholdersIn({ command, env }: Pick<RawEngine, 'command' | 'env'>): Set<Placeholder> {
  return new Set([...command, ...Object.values(env)].flatMap(namesIn).filter(isPlaceholder));
}

export function checkEngine(check: Checking, name: string, engine: RawEngine): void {
  const at = ['engines', name];
  check.sayIf(at, idProblem(name));
  if ((ENGINES as readonly string[]).includes(name))
    check.say(at, `"${name}" is the name of a built-in engine; choose another`);
  if (engine.command[0]?.trim() === '') check.say([...at, 'command', 0], 'is empty; the first entry is the program');
  if (engine.command.length === 1 && /\s/.test(engine.command[0] ?? ''))
    check.say(
      [...at, 'command'],
      'is one entry with blanks; there is no shell: give program and arguments one by one, ["my-agent", "--quiet"]',
    );
  const used = placeholdersIn(engine);
  if (engine.prompt === 'file' && !used.has('promptFile'))
    check.say([...at, 'command'], 'names no {promptFile}: with "prompt: file" the program has to be told where it is');
  if (engine.prompt === 'argument' && !engine.command.some((text) => namesIn(text).includes('prompt')))
    check.say([...at, 'command'], 'has no {prompt}, which "prompt: argument" puts there');
  engine.command.forEach((text, i) => {
    checkText(check, [...at, 'command', i], text, engine);
    const [option, value = engine.command[i + 1]] = text.split(/=(.*)/s, 2);
    if (option!.startsWith('-') && KEY_NAME.test(option!) && value !== undefined && value !== '{key}')
      check.say([...at, 'command', i], `looks like the place of a secret: ${NO_SECRETS}`);
  });
  for (const [variable, text] of Object.entries(engine.env)) {
    const place = [...at, 'env', variable];
    if (!/^[A-Za-z_]\w*$/.test(variable)) check.say(place, 'is no name of an environment variable');
    if (variable.startsWith('SWARMLINE_')) check.say(place, 'names beginning with SWARMLINE_ are ours');
    if (engine.gateway && GATEWAY_VARIABLES.includes(variable))
      check.say(place, 'is set by us where "gateway" is true: it leads to the gateway of the attempt');
    else if (KEY_NAME.test(variable) && text !== '{key}')
      check.say(place, `looks like the place of a secret: ${NO_SECRETS}`);
    checkText(check, place, text, engine);
    if (namesIn(text).includes('prompt'))
      check.say(place, '{prompt} goes into the command only; for a variable use {promptFile} with "prompt: file"');
  }
}

function checkText(check: Checking, at: readonly PathPart[], text: string, { prompt, gateway }: RawEngine): void {
  for (const name of namesIn(text)) {
    const meant = isPlaceholder(name) ? null : nearest(name, PLACEHOLDERS);
    if (meant !== null) check.say(at, `{${name}} is no placeholder (did you mean {${meant}}?)`);
    if (name === 'prompt' && prompt !== 'argument')
      check.say(at, `{prompt} stands for the prompt only with "prompt: argument"; here it is "${prompt}"`);
    if (name === 'promptFile' && prompt !== 'file')
      check.say(at, `{promptFile} stands for the prompt's path only with "prompt: file"; here it is "${prompt}"`);
    if ((name === 'gateway' || name === 'key') && !gateway)
      check.say(at, `{${name}} has a meaning only with "gateway: true"`);
  }
}
