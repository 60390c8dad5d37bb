/** What one attempt did and why it failed. Pure. */
import type { Artifact, AttemptRow, GateStepRow } from '../../store/index.ts';
import { printable, table } from './table.ts';
import { duration } from './time.ts';

/** One line for each attempt of a task, oldest first. */
export function attemptTable(attempts: readonly AttemptRow[]): string[] {
  return table(
    attempts.map((row) => [
      `attempt ${row.attempt}`,
      row.outcome ?? row.phase,
      row.agentMs === null ? '' : `agent ${duration(row.agentMs)}`,
      row.gateMs === null ? '' : `gate ${duration(row.gateMs)}`,
      row.host ?? '',
      row.commit === null ? '' : row.commit.slice(0, 10),
    ]),
    '  ',
  );
}

/** Why first, then the gate's steps, then every output: an attempt's own words last, because they are long. */
export function attemptLines(
  attempt: AttemptRow,
  steps: readonly GateStepRow[],
  artifacts: readonly Artifact[],
): string[] {
  const state = attempt.outcome === null ? `on its way (${attempt.phase})` : attempt.outcome;
  return [
    `task ${attempt.task}, attempt ${attempt.attempt}: ${state}`,
    ...(attempt.why === null || attempt.why === ''
      ? []
      : printable(attempt.why)
          .trimEnd()
          .split('\n')
          .map((line) => `  ${line}`)),
    ...stepLines(steps),
    ...artifacts.flatMap(artifactLines),
  ];
}

export function stepLines(steps: readonly GateStepRow[]): string[] {
  if (steps.length === 0) return [];
  return [
    '',
    'gate',
    ...table(
      steps.map((step) => [
        levelOf(step),
        step.step,
        stepState(step),
        duration(step.ms),
        printable(step.failures.slice(0, 3).join(', ')) + (step.failures.length > 3 ? ', …' : ''),
      ]),
      '  ',
    ),
  ];
}

/** `task`, and `task, round 2` where a kept commit was judged again. */
function levelOf({ key, level }: GateStepRow): string {
  const round = /~(\d+)$/.exec(key)?.[1];
  return round === undefined ? level : `${level}, round ${round}`;
}

function stepState(step: GateStepRow): string {
  if (step.waived) return 'waived';
  if (step.ok) return step.flaky ? 'green (flaky)' : 'green';
  return step.end === 'exited' ? `red, exit ${step.exitCode ?? '?'}` : `red, ${step.end}`;
}

export function artifactLines(artifact: Artifact): string[] {
  const size = artifact.truncated ? ` (${artifact.bytes} bytes in all, cut in the middle)` : '';
  return ['', `── ${printable(artifact.name)}${size}`, ...printable(artifact.content).trimEnd().split('\n')];
}
