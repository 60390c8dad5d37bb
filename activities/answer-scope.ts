/**
 * Answers to agents that ask for files which their task was not given.
 *
 * 1. Files are granted only where the whole plan stays good: what another task may write at the same time is refused, with who that is.
 * 2. An answer is given once; given again it comes to the same.
 */
import { ApplicationFailure } from '@temporalio/activity';
import { escapeGlob } from '../spec/globs.ts';
import { safeId } from '../spec/names.ts';
import type { PlanTask, TaskSpec } from '../spec/model.ts';
import {
  amendTask,
  answerScopeRequest,
  listTasks,
  loadScopeRequest,
  loadTask,
  nextTaskIndex,
  saveTasks,
} from '../store/index.ts';
import type { ScopeRequestRow } from '../store/index.ts';
import { admitAlone } from './admit-task.ts';
import { planTask } from './plan-task.ts';
import type { AdmissionDeps } from './admission-deps.ts';
import type { MainlineActivities } from './contract.ts';
import { rawTask } from './raw-task.ts';

export function createAnswerScope(deps: AdmissionDeps): MainlineActivities['answerScope'] {
  const { db } = deps;
  const planned = async (run: string, task: TaskSpec): Promise<PlanTask> => {
    const rows = await listTasks(db, run);
    return planTask(task, rows.find(({ id }) => id === task.id)?.index ?? rows.length);
  };
  const grant = async (run: string, { task: id, paths }: ScopeRequestRow): Promise<PlanTask> => {
    const known = (await loadTask(db, run, id))!.spec;
    const allow = [...new Set([...known.files.allow, ...paths.map(escapeGlob)])];
    const task = await admitAlone(deps, run, rawTask({ ...known, files: { ...known.files, allow } }), id);
    await amendTask(db, run, id, task);
    return planned(run, task);
  };
  const makeTask = async (run: string, request: ScopeRequestRow): Promise<PlanTask> => {
    const id = taskId(request);
    const known = await loadTask(db, run, id);
    const task = known?.spec ?? (await admitAlone(deps, run, changeTask(id, request), null));
    if (known === null) await saveTasks(db, run, [task], await nextTaskIndex(db, run));
    return planned(run, task);
  };

  return async ({ run, request: key, answer, note }) => {
    const request = await loadScopeRequest(db, run, key);
    if (request === null)
      return {
        refused: `no agent of ${run} has asked under "${key}"; \`swarmline scope ${run}\` lists what was asked`,
      };
    if (request.state !== 'open' && request.state !== STATES[answer])
      return { refused: `it was answered already: ${request.answer ?? request.state}` };
    const said = note.trim() === '' ? '' : ` (${note.trim()})`;
    const files = request.paths.join(', ');
    try {
      const task =
        answer === 'refuse' ? null : answer === 'grant' ? await grant(run, request) : await makeTask(run, request);
      const text =
        answer === 'refuse'
          ? `Refused: do without ${files}${said}`
          : answer === 'grant'
            ? `Granted: the task may change ${files}${said}`
            : `The task ${task!.id} changes ${files}${said}; do without`;
      await answerScopeRequest(db, run, key, { state: STATES[answer], text });
      return { refused: null, text, task };
    } catch (error) {
      if (error instanceof ApplicationFailure && error.type === 'BadSpec') return { refused: error.message };
      throw error;
    }
  };
}

const STATES = { grant: 'granted', refuse: 'refused', task: 'task' } as const;

/** The same for the same request. */
const taskId = ({ key, task }: ScopeRequestRow): string =>
  `${safeId(`scope-${task}`.slice(0, 50))}-${safeId(key).slice(-10)}`.replaceAll(/-{2,}/g, '-');

const changeTask = (id: string, { task, paths, note }: ScopeRequestRow): object => ({
  id,
  kind: 'interface-change',
  goal: `Task \`${task}\` needs a change in ${paths.map((path) => `\`${path}\``).join(', ')}, which it was not given. It says: ${note}`,
  files: { allow: paths.map(escapeGlob) },
  acceptance: [`What \`${task}\` asks for is there, and nothing else has changed for others who use these files.`],
});
