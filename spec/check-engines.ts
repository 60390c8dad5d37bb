/** What a spec says about engines: that each role's is known, that its program is in the image, and that those of the spec itself make sense. */
import { checkEngine, placeholdersIn } from './check-engine.ts';
import type { Checking } from './checking.ts';
import { ENGINES } from './fields-engines.ts';
import type { RawSpec } from './fields.ts';
import { ROLE_NAMES } from './model.ts';
import { didYouMean, type PathPart } from './problems.ts';

/** Engines whose program has to be in the image, and the name by which `./swarmline image` makes one that has it. */
const AGENT_PROGRAMS: ReadonlyMap<string, string> = new Map([
  ['claude-code', 'agents'],
  ['codex', 'agents'],
  ['aider', 'aider'],
]);
const imageOf = (name: string): string => `swarmline/${name}:1`;
/** The images whose content is known, and which of them it is; of any other image nothing is said. */
const OURS: ReadonlyMap<string, string> = new Map([
  ['swarmline/node:22', 'none'],
  ...[...AGENT_PROGRAMS.values()].map((name) => [imageOf(name), name] as const),
]);

interface NamedRole {
  readonly at: PathPart[];
  readonly engine: string;
  readonly model: string | null;
}

/** Every role that the spec names, each reviewer for itself. */
function namedRoles(roles: RawSpec['roles']): NamedRole[] {
  return ROLE_NAMES.flatMap((name): NamedRole[] => {
    const given = roles[name];
    if (given === null) return [];
    if (!Array.isArray(given)) return [{ at: ['roles', name], ...given }];
    return given.map((role, i) => ({ at: ['roles', name, i], ...role }));
  });
}

export function checkEngines(check: Checking, spec: RawSpec): void {
  const roles = namedRoles(spec.roles);
  for (const [name, engine] of Object.entries(spec.engines)) {
    checkEngine(check, name, engine);
    if (!roles.some((role) => role.engine === name)) check.warn(['engines', name], 'has no effect: no role names it');
  }
  for (const role of roles) checkRole(check, role, spec.engines);
  checkImage(check, spec.sandbox.image, [...new Set(roles.map(({ engine }) => engine))]);
}

function checkRole(check: Checking, { at, engine, model }: NamedRole, own: RawSpec['engines']): void {
  if (engine === 'external')
    check.say(
      [...at, 'engine'],
      '"external" (an agent elsewhere that claims tasks) has its name, but no build carries it yet; to run a program of yours in the sandbox, describe it in "engines"',
    );
  const builtIn: readonly string[] = ENGINES;
  const known = [...builtIn.filter((name) => name !== 'external'), ...Object.keys(own)];
  if (engine !== 'external' && !known.includes(engine))
    check.say(
      [...at, 'engine'],
      `is no engine${didYouMean(engine, known)}; there are ${known.join(', ')}, and what the spec itself describes in "engines"`,
    );
  if (builtIn.includes(engine) || !Object.hasOwn(own, engine)) return;
  const takesModel = placeholdersIn(own[engine]!).has('model');
  if (takesModel && model === null)
    check.say([...at, 'model'], `is required: the engine "${engine}" is told its model ({model})`);
  if (!takesModel && model !== null)
    check.warn(
      [...at, 'model'],
      own[engine]!.gateway
        ? `the engine "${engine}" is not told of it: nowhere in its command or environment is {model}; the gateway lets no other model through`
        : `has no effect: the engine "${engine}" has no {model} in its command or environment, and no gateway`,
    );
}

/** There is one image for all roles. */
function checkImage(check: Checking, image: string, engines: readonly string[]): void {
  const inside = OURS.get(image);
  if (inside === undefined) return;
  const wanted = engines.filter((engine) => AGENT_PROGRAMS.has(engine));
  const missing = wanted.filter((engine) => AGENT_PROGRAMS.get(engine) !== inside);
  if (missing.length === 0) return;
  const makers = new Set(wanted.map((engine) => AGENT_PROGRAMS.get(engine)!));
  const [maker] = makers;
  const named = missing.map((engine) => `"${engine}"`).join(' and ');
  const how =
    makers.size === 1
      ? `name one that has, such as "${imageOf(maker!)}" (\`./swarmline image ${maker!}\` makes it)`
      : 'no image of ours has them all: name one of your own, or give all roles engines of one image';
  check.warn(['sandbox', 'image'], `"${image}" has no program for the engine ${named}: ${how}`);
}
