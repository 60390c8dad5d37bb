/** A work log as text. Pure. */
import type { FlagRow, LogEntry, NoticeRow } from '../../store/index.ts';
import { printable } from './table.ts';

export interface Worklog {
  readonly entries: readonly LogEntry[];
  readonly flags: readonly FlagRow[];
  readonly notices: readonly (NoticeRow & { readonly task: string; readonly deliveredAtMs: number | null })[];
}

const NOTICES_SHOWN = 50;
const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

export function worklogLines(run: string, { entries, flags, notices }: Worklog): string[] {
  if (entries.length + flags.length + notices.length === 0)
    return [`nobody has written anything into the work log of ${run} yet`];
  return [
    ...entries.map(
      ({ atMs, kind, task, message }) =>
        `${clock(atMs)} ${kind}${task === null ? '' : ` (${task})`}: ${printable(message)}`,
    ),
    ...(flags.length === 0 ? [] : ['', 'flagged files']),
    ...flags.map(
      ({ path, count, why }) => `  ${printable(path)} (${count} ${count === 1 ? 'time' : 'times'}): ${printable(why)}`,
    ),
    ...(notices.length === 0 ? [] : ['', 'notices']),
    ...notices
      .slice(-NOTICES_SHOWN)
      .map(
        ({ task, byTask, commit, files, deliveredAtMs }) =>
          `  ${task}: ${files.map(printable).join(', ')} changed in ${commit.slice(0, 10)} by ${byTask}; ${deliveredAtMs === null ? 'not read yet' : `read at ${clock(deliveredAtMs)}`}`,
      ),
  ];
}
