/**
 * Which steps a gate runs at a level, in which order.
 *
 * 1. Order is that of GATE_STEPS, so that the cheap steps fail first; the first red one ends the gate.
 * 2. A step that the spec skips, or that has no command at the level, is not planned; a step that a person waived is, and is green.
 */
import { GATE_LEVELS, GATE_STEPS } from '../model.ts';
import type { CompiledSpec, CoverageRule, GateLevel, GateStepName, Waivable } from '../model.ts';

export interface PlannedStep {
  readonly name: GateStepName;
  /** null only for `coverage` without a command of its own: it is judged by what the step before it (`test`) wrote. */
  readonly command: string | null;
  readonly report: string | null;
  readonly coverage: CoverageRule | null;
  /** At this level a missing coverage report is red, not "not judged". */
  readonly coverageRequired: boolean;
  readonly waived: boolean;
}

export function planGate(
  gate: CompiledSpec['gate'],
  level: GateLevel,
  choice: {
    readonly only?: readonly GateStepName[] | undefined;
    readonly waive?: readonly Waivable[] | undefined;
  } = {},
): PlannedStep[] {
  const planned: PlannedStep[] = [];
  for (const name of GATE_STEPS) {
    const step = gate.steps.find((one) => one.name === name);
    const command = step === undefined || step.skip ? null : step.commands[level];
    const rule = name === 'coverage' && step?.skip !== true ? gate.coverage : null;
    const borrowed = rule !== null && !hasCommand(gate, 'coverage') && planned.some((one) => one.name === 'test');
    if (command === null && !borrowed) continue;
    planned.push({
      name,
      command,
      report: step?.report ?? null,
      coverage: rule,
      coverageRequired: command !== null || level === 'wave',
      waived: choice.waive?.includes(name) === true,
    });
  }
  if (choice.only === undefined) return planned;
  const wanted = new Set<GateStepName>(choice.only);
  // Coverage without a command is read from what `test` wrote.
  if (planned.some((one) => one.name === 'coverage' && one.command === null && wanted.has('coverage')))
    wanted.add('test');
  return planned.filter((one) => wanted.has(one.name));
}

function hasCommand(gate: CompiledSpec['gate'], name: GateStepName): boolean {
  const step = gate.steps.find((one) => one.name === name);
  return step !== undefined && GATE_LEVELS.some((level) => step.commands[level] !== null);
}
