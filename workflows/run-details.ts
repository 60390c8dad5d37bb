/** What a person reads of a run: who waits for what, and the table of waves in the Temporal UI. Pure. */
import type { Waiting } from '../activities/contract.ts';
import { unmetDependencies } from '../spec/schedule.ts';
import type { RunState } from './run-state.ts';

/** Everything that waits for a person, each with the command that answers it. */
export function waitingForPeople(run: string, state: RunState): Waiting[] {
  const blocked = state
    .all((record) => record.state === 'blocked')
    .map(({ plan, why, sinceMs }) => ({
      on: `task ${plan.id}`,
      why,
      sinceMs,
      command: `swarmline logs ${run} ${plan.id}, then swarmline retry|amend|skip ${run} ${plan.id}`,
    }));
  const approvals = state
    .all(({ awaitsApproval, state: s }) => awaitsApproval && s === 'merging')
    .map(({ plan, sinceMs }) => ({
      on: `approval to merge ${plan.id}`,
      why: 'policy.approve names merge',
      sinceMs,
      command: `swarmline approve ${run} merge --task ${plan.id}`,
    }));
  const orphans = state
    .all((record) => record.state === 'pending')
    .flatMap(({ plan, sinceMs }) => {
      const dead = unmetDependencies(plan, state.standings).filter((id) =>
        ['cancelled', 'skipped'].includes(state.get(id)?.state ?? ''),
      );
      if (dead.length === 0) return [];
      return [
        {
          on: `task ${plan.id}`,
          why: `it depends on ${dead.join(', ')}, which will not land`,
          sinceMs,
          command: `swarmline skip ${run} ${plan.id}`,
        },
      ];
    });
  return [...blocked, ...approvals, ...orphans];
}

/** Markdown for the run's current details: phase, table of waves, who waits. Kept short: the box in the UI scrolls. */
export function runDetails(
  run: string,
  phase: string,
  state: RunState,
  greenPoints: number,
  waiting: readonly Waiting[],
): string {
  const waves = new Map<number, Record<string, number>>();
  for (const { wave, state: s } of state.records.values()) {
    const row = waves.get(wave) ?? {};
    row[s] = (row[s] ?? 0) + 1;
    waves.set(wave, row);
  }
  const columns = ['pending', 'running', 'merging', 'passed', 'blocked', 'skipped', 'cancelled'];
  const rows = [...waves.keys()]
    .toSorted((a, b) => (a || Infinity) - (b || Infinity))
    .map(
      (wave) =>
        `| ${wave === 0 ? 'later' : wave} | ${columns.map((column) => waves.get(wave)?.[column] ?? '').join(' | ')} |`,
    );
  return [
    `**${phase}** · ${greenPoints} green point${greenPoints === 1 ? '' : 's'}`,
    '',
    `| wave | ${columns.join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    ...rows,
    ...(waiting.length === 0 ? [] : ['', '**Waits for a person**', '']),
    ...waiting
      .slice(0, 10)
      .map(({ on, why, command }) => `- ${on}: ${why.split('\n')[0]?.slice(0, 160)} → \`${command}\``),
    '',
    `\`swarmline status ${run}\` tells more.`,
  ].join('\n');
}
