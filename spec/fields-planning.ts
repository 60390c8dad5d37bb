/** The part of the table of fields about planners. */
import { choices, number } from './field.ts';
import { group, withDefaults } from './field-groups.ts';
import { MAX_TASKS } from './fields-task.ts';
import { REPLAN_OCCASIONS } from './model.ts';
import { DEFAULT_BOUNDS } from './plan/context.ts';

const { depth, breadth, tasks: answerTasks, totalTasks, decisions } = DEFAULT_BOUNDS;
export const planning = group({
  depth: number('Levels of planners below the first one. 0: it plans tasks only.', {
    min: 0,
    max: 8,
    unit: 'levels',
    default: depth,
  }),
  breadth: number('Sub-scopes in one answer of a planner.', { min: 1, max: 100, unit: 'scopes', default: breadth }),
  tasks: number('Tasks in one answer.', { min: 1, max: 1000, unit: 'tasks', default: answerTasks }),
  totalTasks: number('Tasks in the whole plan.', { min: 1, max: MAX_TASKS, unit: 'tasks', default: totalTasks }),
  decisions: number('Decisions in the whole plan.', { min: 0, max: 1000, unit: 'decisions', default: decisions }),
  asks: number('Answers of a planner, each sent back with every problem, until it counts as failed.', {
    min: 1,
    max: 20,
    unit: 'answers',
    default: 4,
  }),
  calls: number('Times that one planner is called in a run; beyond it only a person calls it.', {
    min: 1,
    max: 1000,
    unit: 'calls',
    default: 20,
  }),
  replan: choices(
    'When the planner of what is concerned is called again: its tasks have landed, one is blocked, one ran into its deadline twice, an agent asks for files that it was not given.',
    REPLAN_OCCASIONS,
    [...REPLAN_OCCASIONS],
  ),
  refuse: withDefaults(
    group({
      minParallelism: number('Tasks for each of the longest chain, at least; a plan below it is sent back.', {
        min: 1,
        max: 1000,
        unit: '',
        default: null,
        whole: false,
      }),
      maxOverlap: number('Share of all pairs of tasks that may write the same file, at most.', {
        min: 0,
        max: 100,
        unit: '%',
        default: null,
        whole: false,
      }),
      maxScopeFiles: number('Files in the scope of one task, at most.', {
        min: 1,
        max: 100_000,
        unit: 'files',
        default: null,
      }),
      maxUsd: number('Expected cost of the plan, at most.', {
        min: 0,
        max: 10_000_000,
        unit: 'US dollars',
        default: null,
        whole: false,
      }),
      maxMinutes: number('Expected time of the plan, at most.', {
        min: 1,
        max: 1_000_000,
        unit: 'minutes',
        default: null,
      }),
    }),
  ),
});
