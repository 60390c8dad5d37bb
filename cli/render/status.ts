/** A run as text for a person. Pure: data in, lines out. */
import { isPlanners } from '../../spec/plan/index.ts';
import { trend } from '../../spec/evaluation.ts';
import { TASK_STATES } from '../../spec/model.ts';
import type { RunOverview, TaskRow } from '../../store/index.ts';
import { pace } from './estimate.ts';
import { oneLine, table } from './table.ts';
import { duration } from './time.ts';
import { waits } from './waiting.ts';
import type { WaitLine } from './waiting.ts';

/** Waits shown; --json shows all. */
const WAITS_SHOWN = 12;
const RUNNING_SHOWN = 12;

export interface StatusOptions {
  /** Characters a line. */
  readonly width: number;
  /** Workers and services that are not there. */
  readonly missing?: readonly WaitLine[];
}

export function statusLines(overview: RunOverview, options: StatusOptions): string[] {
  return [
    ...header(overview),
    '',
    ...waveTable(overview),
    '',
    ...figures(overview),
    ...section('running', runningLines(overview, options.width)),
    ...section('waiting', waitLines(waits(overview, options.missing), overview.atMs, options.width)),
  ];
}

function header({ run, atMs }: RunOverview): string[] {
  const took = duration((run.endedAtMs ?? atMs) - run.startedAtMs);
  const state =
    run.outcome === null
      ? `${run.phase}${run.paused ? ', paused' : ''}, since ${took}`
      : `${run.outcome} after ${took}`;
  return [`run ${run.id}  ${state}`];
}

/** One row a wave, one column for each state that occurs. */
function waveTable({ tasks }: RunOverview): string[] {
  if (tasks.length === 0) return ['no tasks yet'];
  const states = TASK_STATES.filter((state) => tasks.some((task) => task.state === state));
  // Without a wave, or with number 0: it belongs to none yet.
  const waveOf = (task: TaskRow): number => task.wave || Infinity;
  const waves = [...new Set(tasks.map(waveOf))].toSorted((a, b) => a - b);
  const row = (name: string, own: typeof tasks): (string | number)[] => [
    name,
    own.length,
    ...states.map((state) => own.filter((task) => task.state === state).length),
  ];
  const rows = waves.map((wave) =>
    row(
      wave === Infinity ? 'later' : String(wave),
      tasks.filter((task) => waveOf(task) === wave),
    ),
  );
  if (rows.length > 1) rows.push(row('all', tasks));
  const width = (column: number): number => Math.max(...rows.map((cells) => String(cells[column] ?? '').length));
  const title = ['wave', 'tasks', ...states].map((name, column) =>
    column === 0 ? name : name.padStart(width(column)),
  );
  return table([title, ...rows]);
}

function figures(overview: RunOverview): string[] {
  const { attempts, merges, running, greenPoints, atMs } = overview;
  const { perHour, remaining, leftMs, windowMs } = pace(overview);
  const point = greenPoints.at(-1);
  const queued = running.filter((row) => row.phase === 'merge').length;
  const agents = running.filter((row) => !isPlanners(row.task)).length;
  const rows: string[][] = [
    [
      'attempts',
      `${attempts.total}: ${counts({ ...attempts.byOutcome, running: agents - queued, 'in the queue or unverified': queued })}`,
    ],
    ['merges', counts(merges.byState) + ages(overview)],
    [
      'green points',
      point === undefined
        ? 'none yet'
        : `${greenPoints.length}, the newest ${point.commit.slice(0, 10)}${point.wave === null ? '' : ` (wave ${point.wave})`} ${duration(atMs - point.atMs)} ago`,
    ],
    [
      'rate',
      perHour === null ? 'unknown yet' : `${rounded(perHour)} tasks an hour, over the last ${duration(windowMs)}`,
    ],
  ];
  if (overview.run.outcome === null && overview.evaluations.length > 0)
    rows.push(['score', `${trend(overview.evaluations)}, up to green point ${overview.evaluations.at(-1)!.n}`]);
  if (overview.run.outcome === null) {
    rows.push([
      'time left',
      leftMs === null
        ? remaining === 0 && overview.tasks.length > 0
          ? 'no task is left to land'
          : `unknown yet, ${plural(remaining, 'task')} to land`
        : `about ${duration(leftMs)} (an estimate: ${plural(remaining, 'task')} at that rate)`,
    ]);
  }
  rows.push([
    'time spent',
    `agents ${duration(attempts.agentMs)}, gates ${duration(attempts.gateMs)}, waiting on us ${duration(attempts.queuedMs)}`,
  ]);
  return table(rows);
}

function ages({ merges, atMs }: RunOverview): string {
  const { oldestQueuedAtMs, oldestUnverifiedAtMs } = merges;
  return [
    oldestQueuedAtMs === null ? '' : `; the oldest in the queue for ${duration(atMs - oldestQueuedAtMs)}`,
    oldestUnverifiedAtMs === null ? '' : `; unverified for ${duration(atMs - oldestUnverifiedAtMs)}`,
  ].join('');
}

function runningLines({ running: open, atMs }: RunOverview, width: number): string[] {
  const running = open.filter((row) => row.phase !== 'merge');
  const lines = table(
    running
      .slice(0, RUNNING_SHOWN)
      .map((row) => [
        row.task,
        `${isPlanners(row.task) ? 'answer' : 'attempt'} ${row.attempt}`,
        isPlanners(row.task) ? 'plans' : row.phase,
        `since ${duration(atMs - row.startedAtMs)}`,
        row.host ?? '',
      ]),
    '  ',
  ).map((line) => line.slice(0, width));
  return more(lines, running.length);
}

/** Who waits, as a section with its title. */
export const waitingSection = (all: readonly WaitLine[], atMs: number, width: number): string[] =>
  all.length === 0 ? [] : ['waiting', ...waitLines(all, atMs, width)];

function waitLines(all: readonly WaitLine[], atMs: number, width: number): string[] {
  const lines = all.slice(0, WAITS_SHOWN).flatMap((wait) => {
    const since = wait.sinceMs === null ? '' : `, since ${duration(atMs - wait.sinceMs)}`;
    const whose = wait.task === null ? '' : `${wait.task} `;
    const line = `  ${oneLine(`${whose}waits for ${wait.on}${since}${wait.why === '' ? '' : `: ${wait.why}`}`, width - 2)}`;
    return wait.command === null ? [line] : [line, `      type: ${wait.command}`];
  });
  return all.length > WAITS_SHOWN ? [...lines, `  and ${all.length - WAITS_SHOWN} more`] : lines;
}

const more = (lines: string[], total: number): string[] =>
  total > lines.length ? [...lines, `  and ${total - lines.length} more`] : lines;
const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];
const rounded = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)));
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `58 passed, 3 gate-red`; `none` when all are 0. */
export function counts(by: Readonly<Record<string, number>>): string {
  const told = Object.entries(by).filter(([, count]) => count > 0);
  return told.length === 0 ? 'none' : told.map(([name, count]) => `${count} ${name}`).join(', ');
}
