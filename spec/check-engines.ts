/** What a spec says about engines: that each role's is known, and that its program is in the image. */
import type { Checking } from './checking.ts';
import type { RawSpec } from './fields.ts';
import { ROLE_NAMES } from './model.ts';
import type { PathPart } from './problems.ts';

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

export interface NamedRole {
  readonly at: PathPart[];
  readonly engine: string;
  readonly model: string | null;
}

/** Every role that the spec names, each reviewer for itself. */
export function namedRoles(roles: RawSpec['roles']): NamedRole[] {
  return ROLE_NAMES.flatMap((name): NamedRole[] => {
    const given = roles[name];
    if (given === null) return [];
    if (!Array.isArray(given)) return [{ at: ['roles', name], ...given }];
    return given.map((role, i) => ({ at: ['roles', name, i], ...role }));
  });
}

export function checkEngines(check: Checking, spec: RawSpec): void {
  const roles = namedRoles(spec.roles);
  checkImage(check, spec.sandbox.image, [...new Set(roles.map(({ engine }) => engine))]);
}

/** There is one image for all roles. */
function checkImage(check: Checking, image: string, engines: readonly string[]): void {
  const inside = OURS.get(image);
  if (inside === undefined) return;
  const wanted = engines.filter((engine) => AGENT_PROGRAMS.has(engine));
  const missing = wanted.filter((engine) => AGENT_PROGRAMS.get(engine) !== inside);
  const [first] = missing;
  if (first === undefined) return;
  const makers = new Set(wanted.map((engine) => AGENT_PROGRAMS.get(engine)!));
  const [maker] = makers;
  const named = missing.map((engine) => `"${engine}"`).join(' and ');
  const how =
    makers.size === 1
      ? `name one that has, such as "${imageOf(maker!)}" (\`./swarmline image ${maker!}\` makes it)`
      : 'no image of ours has them all: name one of your own, or give all roles engines of one image';
  check.warn(['sandbox', 'image'], `"${image}" has no program for the engine ${named}: ${how}`);
}
