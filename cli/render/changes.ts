/** What happened between two looks at a run: one line each, for a pipe. Pure. */
import type { RunOverview, TaskRow } from '../../store/index.ts';
import { oneLine } from './table.ts';
import { duration } from './time.ts';
import { runWaits } from './waiting.ts';

const LINE = 300;

/** before null: the first look, which tells where things stand. */
export function changeLines(before: RunOverview | null, after: RunOverview): string[] {
  return [
    ...runChanges(before, after),
    ...taskChanges(before, after),
    ...greenChanges(before, after),
    ...waitChanges(before, after),
    ...endChange(before, after),
  ];
}

function runChanges(before: RunOverview | null, after: RunOverview): string[] {
  const { run } = after;
  if (before === null)
    return [`run ${run.id}: ${run.phase}${run.paused ? ', paused' : ''}, ${after.tasks.length} tasks`];
  const lines: string[] = [];
  if (before.run.phase !== run.phase && run.outcome === null) lines.push(`run: ${run.phase}`);
  if (before.run.paused !== run.paused && run.outcome === null) lines.push(run.paused ? 'run: paused' : 'run: resumed');
  return lines;
}

function taskChanges(before: RunOverview | null, after: RunOverview): string[] {
  const old = new Map(before?.tasks.map((task) => [task.id, task]));
  const done = after.tasks.filter((task) => task.state === 'passed').length;
  return after.tasks.flatMap((task) => {
    const was = old.get(task.id);
    // The first look at a run that is long under way is not a change of every task.
    if (was === undefined && (before === null || task.state === 'pending'))
      return before === null ? [] : [`${task.id}: added`];
    if (was?.state === task.state && was.round === task.round) return [];
    return [
      oneLine(
        `${task.id}: ${taskText(task)}${task.state === 'passed' ? ` (${done} of ${after.tasks.length})` : ''}`,
        LINE,
      ),
    ];
  });
}

function taskText(task: TaskRow): string {
  const why = task.why === null || task.why === '' ? '' : `: ${task.why}`;
  switch (task.state) {
    case 'running':
      return task.attempts > 1 ? `running, attempt ${task.attempts}` : 'running';
    case 'passed':
      return `passed${task.commit === null ? '' : `, landed as ${task.commit.slice(0, 10)}`}`;
    case 'retrying':
    case 'failed':
    case 'blocked':
    case 'skipped':
    case 'cancelled':
      return `${task.state}${why}`;
    case 'pending':
      return `pending${task.round > 1 ? `, round ${task.round}` : ''}${why}`;
    case 'ready':
    case 'merging':
      return task.state;
  }
}

function greenChanges(before: RunOverview | null, after: RunOverview): string[] {
  const known = before === null ? after.greenPoints.length : before.greenPoints.length;
  return after.greenPoints
    .slice(known)
    .map(
      (point) =>
        `green point ${point.n}: ${point.commit.slice(0, 10)}${point.wave === null ? '' : `, wave ${point.wave}`}`,
    );
}

function waitChanges(before: RunOverview | null, after: RunOverview): string[] {
  if (after.run.outcome !== null) return [];
  const known = new Set(runWaits(before?.run.details).map((wait) => `${wait.on}\0${wait.why}\0${wait.command}`));
  return runWaits(after.run.details)
    .filter((wait) => !known.has(`${wait.on}\0${wait.why}\0${wait.command}`))
    .map((wait) =>
      oneLine(
        `waits for ${wait.on}${wait.why === '' ? '' : `: ${wait.why}`}${wait.command === null ? '' : ` (type: ${wait.command})`}`,
        LINE,
      ),
    );
}

function endChange(before: RunOverview | null, after: RunOverview): string[] {
  const { run } = after;
  if (run.outcome === null || before?.run.outcome === run.outcome) return [];
  return [`run ${run.id}: ${run.outcome} after ${duration((run.endedAtMs ?? after.atMs) - run.startedAtMs)}`];
}
