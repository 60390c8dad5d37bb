import { describe, expect, test } from '@jest/globals';
import { planGate } from '../../../spec/gate/plan.ts';
import type { CompiledSpec, GateStep, ConfiguredStepName } from '../../../spec/model.ts';

const step = (name: ConfiguredStepName, task: string | null, mainline = task, wave = mainline): GateStep => ({
  name,
  skip: false,
  commands: { task, mainline, wave },
  report: null,
});
const gate = (steps: GateStep[], coverage: CompiledSpec['gate']['coverage'] = null) => ({ steps, coverage });
const rule = { report: 'lcov.info', changedLines: 80 };
const names = (planned: { name: string }[]) => planned.map((one) => one.name);

describe('which steps a gate runs', () => {
  const steps = [
    step('build', 'make'),
    step('lint', 'lint'),
    step('test', 'test'),
    step('integration', null, null, 'it'),
  ];

  test('cheap steps come first, whatever the order in the spec', () => {
    expect(names(planGate(gate(steps), 'task'))).toEqual(['lint', 'test', 'build']);
  });

  test('a step without a command at a level runs only where it has one', () => {
    expect(names(planGate(gate(steps), 'wave'))).toEqual(['lint', 'test', 'build', 'integration']);
  });

  test('a skipped step never runs', () => {
    expect(names(planGate(gate([{ ...step('lint', 'lint'), skip: true }, step('test', 'test')]), 'wave'))).toEqual([
      'test',
    ]);
  });

  test('`only` keeps those steps and `[]` judges nothing', () => {
    expect(names(planGate(gate(steps), 'wave', { only: ['integration'] }))).toEqual(['integration']);
    expect(planGate(gate(steps), 'wave', { only: [] })).toEqual([]);
  });

  test('a waived step stays in the plan, marked', () => {
    expect(planGate(gate(steps), 'task', { waive: ['test'] }).map((one) => [one.name, one.waived])).toEqual([
      ['lint', false],
      ['test', true],
      ['build', false],
    ]);
  });

  test('a coverage rule without a command is judged by what `test` wrote, and is required at wave level only', () => {
    const planned = (level: 'task' | 'wave') =>
      planGate(gate(steps, rule), level).find((one) => one.name === 'coverage');
    expect(planned('task')).toMatchObject({ command: null, coverage: rule, coverageRequired: false });
    expect(planned('wave')).toMatchObject({ command: null, coverage: rule, coverageRequired: true });
    expect(names(planGate(gate(steps, rule), 'wave', { only: ['coverage'] }))).toEqual(['test', 'coverage']);
  });

  test('a coverage command of its own is required where it runs', () => {
    const own = planGate(gate([...steps, step('coverage', null, null, 'cov')], rule), 'wave');
    expect(own.at(-1)).toMatchObject({ name: 'coverage', command: 'cov', coverageRequired: true });
    expect(names(planGate(gate([...steps, step('coverage', null, null, 'cov')], rule), 'task'))).not.toContain(
      'coverage',
    );
  });
});
