/**
 * What an agent may ask of us, as tools.
 *
 * 1. Whose call it is, the socket says; no tool takes a run, task or attempt from its caller.
 * 2. Bounded: texts, lists and the number of writes of an attempt. What is cut or refused says so.
 * 3. By role: a reviewer is told nothing by others and tells them nothing beside its verdict, so that they err apart; a merger stays with the
 *    conflicting files; a planner decides in its answer. None of them takes the notices that are the worker's.
 */
import { z } from 'zod';
import type { Caller } from './types.ts';

export interface LogLine {
  readonly atMs: number;
  readonly kind: string;
  readonly task: string | null;
  readonly text: string;
}
export interface Decision {
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  readonly interfaces: readonly string[];
}
export interface Notice {
  readonly commit: string;
  readonly byTask: string;
  readonly files: readonly string[];
  readonly atMs: number;
}

/** Where tools read and write; `workers/` puts the store behind it. Every write may be repeated under the same key. */
export interface ToolPort {
  readLog(caller: Caller, limit: number): Promise<LogLine[]>;
  addLog(caller: Caller, key: string, kind: string, text: string): Promise<void>;
  /** Signatures of a file as it stands on the verified line; null: there is no such file. */
  readInterface(caller: Caller, path: string): Promise<string | null>;
  flagFile(caller: Caller, path: string, why: string): Promise<void>;
  /** Resolves with the answer where there is one soon; null: it is being decided. */
  askForScope(caller: Caller, key: string, paths: readonly string[], note: string): Promise<string | null>;
  /** Returns the decision that stands: another's, when somebody has decided under this id before. */
  decide(caller: Caller, decision: Decision): Promise<Decision & { readonly owner: string }>;
  /** Unread ones; reading them marks them as delivered. */
  takeNotices(caller: Caller): Promise<Notice[]>;
}

const text = (most: number) => z.string().trim().min(1).max(most);
const path = z
  .string()
  .min(1)
  .max(1_000)
  .refine(
    (p) => !p.startsWith('/') && !p.split('/').includes('..') && !p.includes('\0'),
    'a path inside the repository',
  );

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodRawShape;
  readonly writes: boolean;
  /** @param key names this call within its attempt */
  readonly call: (port: ToolPort, caller: Caller, input: never, key: string) => Promise<string>;
}

function tool<S extends z.ZodRawShape>(definition: {
  name: string;
  description: string;
  input: S;
  writes: boolean;
  call: (port: ToolPort, caller: Caller, input: z.infer<z.ZodObject<S>>, key: string) => Promise<string>;
}): Tool {
  return definition as unknown as Tool;
}

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'worklog_read',
    description: 'Read what other agents of this run discovered, failed at and decided; newest last.',
    input: { limit: z.number().int().min(1).max(100).default(30) },
    writes: false,
    async call(port, caller, { limit }) {
      const lines = await port.readLog(caller, limit);
      if (lines.length === 0) return 'The work log is empty.';
      return lines
        .map(
          ({ atMs, kind, task, text: said }) =>
            `${new Date(atMs).toISOString()} ${kind}${task === null ? '' : ` (${task})`}: ${said}`,
        )
        .join('\n');
    },
  }),
  tool({
    name: 'worklog_add',
    description:
      'Tell other agents of this run what you found out, what failed, or what you decided. One fact an entry.',
    input: { kind: z.enum(['discovery', 'failure', 'decision']), text: text(2_000) },
    writes: true,
    async call(port, caller, { kind, text: said }, key) {
      await port.addLog(caller, key, kind, said);
      return 'Noted.';
    },
  }),
  tool({
    name: 'read_interface',
    description: 'Signatures of a file of the repository as it stands on the mainline now (not in your checkout).',
    input: { path },
    writes: false,
    async call(port, caller, input) {
      return (await port.readInterface(caller, input.path)) ?? `There is no file ${input.path} on the mainline.`;
    },
  }),
  tool({
    name: 'flag_file',
    description: 'Say that a file is bloated, so that everybody has to change it and it should be split.',
    input: { path, why: text(500) },
    writes: true,
    async call(port, caller, input) {
      await port.flagFile(caller, input.path, input.why);
      return 'Flagged.';
    },
  }),
  tool({
    name: 'request_scope',
    description:
      'Ask for leave to change files that your task was not given. Policy or a person decides; until you are told that it is granted, finish what you can without.',
    input: { paths: z.array(path).min(1).max(20), note: text(2_000) },
    writes: true,
    async call(port, caller, { paths, note }, key) {
      const answer = await port.askForScope(caller, key, paths, note);
      return answer ?? 'Asked. Go on without these files: what changes outside your scope is refused.';
    },
  }),
  tool({
    name: 'record_decision',
    description: 'Record a decision that others must follow. Refer to it in code as `swarm:decision <id>`.',
    input: {
      id: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/),
      subject: text(200),
      text: text(4_000),
      interfaces: z.array(text(200)).max(20).default([]),
    },
    writes: true,
    async call(port, caller, decision) {
      const stands = await port.decide(caller, decision);
      const own = stands.text === decision.text && stands.subject === decision.subject;
      return own
        ? `Recorded as ${stands.id}.`
        : `${stands.id} was decided before, by ${stands.owner}: ${stands.subject}. ${stands.text}\nFollow it, or record yours under another id and say in it what it conflicts with.`;
    },
  }),
  tool({
    name: 'read_notices',
    description: 'Files that you opened and that have changed on the mainline since.',
    input: {},
    writes: false,
    async call(port, caller) {
      const notices = await port.takeNotices(caller);
      if (notices.length === 0) return 'No notices.';
      return notices
        .map(({ commit, byTask, files }) => `${files.join(', ')} changed in ${commit} by task ${byTask}`)
        .join('\n');
    },
  }),
];

const REVIEWERS: ReadonlySet<string> = new Set(['read_interface']);
const NOT_MERGERS: ReadonlySet<string> = new Set(['request_scope', 'read_notices']);

/** Its decisions stand in its answer, where they are judged with the rest of the plan; it writes no files, and nobody tells it of any. */
const NOT_PLANNERS: ReadonlySet<string> = new Set(['request_scope', 'read_notices', 'record_decision']);

export function toolsOf(role: string): readonly Tool[] {
  if (role === 'reviewer') return TOOLS.filter(({ name }) => REVIEWERS.has(name));
  if (role === 'planner') return TOOLS.filter(({ name }) => !NOT_PLANNERS.has(name));
  return role === 'merger' ? TOOLS.filter(({ name }) => !NOT_MERGERS.has(name)) : TOOLS;
}
