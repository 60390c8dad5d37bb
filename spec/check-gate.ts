/** The gate of a spec: what its steps run at which level, and which files decide whether they are green. */
import type { Checking } from './checking.ts';
import { SKIP, type RawSpec } from './fields.ts';
import { globProblem, isLiteral } from './globs.ts';
import {
  GATE_LEVELS,
  GATE_STEPS,
  REQUIRED_STEPS,
  type CompiledSpec,
  type GateLevel,
  type GateStep,
  type GateStepName,
} from './model.ts';
import type { PathPart } from './problems.ts';

type RawStep = string | { task: string | null; mainline: string | null; wave: string | null } | null;
type Commands = Record<GateLevel, string | null>;

/** The compiled gate; every problem of it goes to `check`. */
export function compileGate(check: Checking, gate: RawSpec['gate']): CompiledSpec['gate'] {
  const steps: GateStep[] = [];
  for (const name of GATE_STEPS) {
    const raw: RawStep = gate[name];
    const at = ['gate', name];
    const required = (REQUIRED_STEPS as readonly string[]).includes(name);
    if (raw === null) {
      if (gate.report[name] !== undefined)
        check.say(['gate', 'report', name], `names a report of the step "${name}", which is not configured`);
      continue;
    }
    const skip = raw === SKIP;
    if (skip && gate.report[name] !== undefined)
      check.say(['gate', 'report', name], `names a report of the step "${name}", which is skipped`);
    const commands = skip ? { task: null, mainline: null, wave: null } : inherit(raw);
    if (!skip) checkCommands(check, at, raw, commands, required);
    const report = gate.report[name] ?? null;
    steps.push({ name, skip, commands, report });
  }
  for (const [name, path] of Object.entries(gate.report)) {
    if (!(GATE_STEPS as readonly string[]).includes(name))
      check.say(['gate', 'report', name], `is no gate step; known: ${GATE_STEPS.join(', ')}`);
    else checkWorkspacePath(check, ['gate', 'report', name], path);
  }
  return { steps, coverage: coverageOf(check, gate) };
}

/** A level without a command of its own has that of the level before it; "skip" is inherited like a command. */
function inherit(raw: Exclude<RawStep, null>): Commands {
  const given = typeof raw === 'string' ? { task: raw, mainline: null, wave: null } : raw;
  const out: Commands = { task: null, mainline: null, wave: null };
  let before: string | null = null;
  for (const level of GATE_LEVELS) {
    before = given[level] ?? before;
    out[level] = before === SKIP ? null : before;
  }
  return out;
}

function checkCommands(
  check: Checking,
  at: PathPart[],
  raw: Exclude<RawStep, null>,
  commands: Commands,
  required: boolean,
): void {
  const optionalStep = at.at(-1) as GateStepName;
  if (required && typeof raw !== 'string' && raw.task === null) {
    check.say(
      [...at, 'task'],
      `the step "${optionalStep}" has no command at the level "task"; give one, or "skip" in so many words`,
    );
  }
  const given =
    typeof raw === 'string'
      ? [{ at, command: raw as string | null }]
      : GATE_LEVELS.map((level) => ({ at: [...at, level], command: raw[level] }));
  for (const { at: where, command } of given) {
    if (command === null) continue;
    if (command.trim() === '') {
      check.say(where, 'an empty command is always green; write a command, or "skip" in so many words');
    } else if (/^skip\b/i.test(command.trim()) && command !== SKIP) {
      check.say(where, 'to leave the step out write exactly "skip"');
    } else if (/^(true|:|exit 0|echo\b[^;&|]*)$|\|\|\s*(true|:|exit 0)\s*;?$/.test(command.trim())) {
      check.warn(where, 'this command cannot fail: the gate will always be green here');
    }
    if (command.includes('\0')) check.say(where, 'contains a NUL character');
    if (/(['"])[^'"]*\{changed\}[^'"]*\1/.test(command))
      check.say(where, '{changed} stands in quotes; each file is quoted already');
    const odd = /\{(files?|change|changes|changedfiles|changed_files)\}/i.exec(command);
    if (odd !== null) check.say(where, `"${odd[0]}" is not known; the changed files are {changed}`);
  }
  if (!required && commands.wave === null && optionalStep !== 'coverage')
    check.say(at, `has no command at any level; leave "${optionalStep}" out, or say "skip"`);
  if (commands.wave?.includes('{changed}') === true) {
    check.warn(
      at,
      'the wave level runs on changed files only; at integration points the whole regression should run: give "wave" a command without {changed}',
    );
  }
}

function coverageOf(check: Checking, gate: RawSpec['gate']): CompiledSpec['gate']['coverage'] {
  const { coverage } = gate;
  if (coverage === null || coverage === SKIP) return null;
  if (typeof coverage === 'string') {
    check.say(['gate', 'coverage'], 'must be "skip" or an object: {report: "coverage/lcov.info", changedLines: 80}');
    return null;
  }
  checkWorkspacePath(check, ['gate', 'coverage', 'report'], coverage.report);
  const own = GATE_LEVELS.some((level) => coverage[level] !== null);
  if (!own && gate.test === SKIP)
    check.say(
      ['gate', 'coverage'],
      'there is no test step that could write the report: configure "test", or give coverage a command of its own (task, mainline, wave)',
    );
  return { report: coverage.report, changedLines: coverage.changedLines };
}

function checkWorkspacePath(check: Checking, at: PathPart[], path: string): void {
  const why = globProblem(path);
  if (why !== null) check.say(at, why);
  else if (!isLiteral(path)) check.say(at, `"${path}" is a glob; name one file`);
}

const INTERPRETERS =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|python\d*(?:\.\d+)?|bash|sh|dash|zsh|ruby|perl|php|lua|Rscript)$/;
const CONFIG_OPTIONS = new Set([
  '-p',
  '--project',
  '-c',
  '--config',
  '--configuration',
  '--config-file',
  '--rcfile',
  '-f',
  '--file',
  '--settings',
  '--import',
  '--require',
  '-r',
]);

/**
 * Files of the repository that gate commands name as what they run or are configured by: a task that could change them could
 * make its own gate green. Found: programs by path, the script after an interpreter, values of options such as --config and
 * --project, and the makefile of `make`.
 */
export function gateFiles(steps: readonly GateStep[], exists: (path: string) => boolean): string[] {
  const out = new Set<string>();
  const add = (word: string | undefined): void => {
    const path = word?.replace(/^['"]|['"]$/g, '').replace(/^\.\//, '');
    if (path !== undefined && exists(path)) out.add(path);
  };
  const commands = new Set(steps.flatMap((step) => Object.values(step.commands)).filter((command) => command !== null));
  for (const command of commands) {
    for (const simple of command.split(/&&|\|\||[;|\n]/)) {
      const words = simple
        .trim()
        .split(/\s+/)
        .filter((word) => !/^\w+=/.test(word));
      const program = words.findIndex((word) => !/^(?:npx|pnpm|yarn|exec|time|env|command|!)$/.test(word));
      const name = (words[program] ?? '').replace(/^.*\//, '');
      add(words[program]);
      if (name === 'make' && !words.includes('-f')) ['Makefile', 'makefile', 'GNUmakefile'].forEach(add);
      words.forEach((word, i) => {
        const [option, value] = word.split('=', 2);
        if (CONFIG_OPTIONS.has(option as string)) add(value ?? words[i + 1]);
      });
      if (!INTERPRETERS.test(name)) continue;
      const rest = words.slice(program + 1);
      // `node --check a.js` and `node --test a.js` look at files of tasks; they are not run by them.
      if (rest.some((word) => ['--check', '--test', '-e', '-m'].includes(word))) continue;
      add(rest.find((word) => !word.startsWith('-')));
    }
  }
  return [...out];
}
