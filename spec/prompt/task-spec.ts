/** A Task Spec as sections: never cut. */
import type { TaskSpec } from '../model.ts';
import { pathInText } from './fence.ts';
import type { Section } from './fit.ts';
import { always, bullets } from './parts.ts';

export type ToldTask = Pick<TaskSpec, 'id' | 'goal' | 'interface' | 'acceptance' | 'files' | 'tests'>;

export function taskSections(task: ToldTask): Section[] {
  return [
    always(`Task ${task.id}`, task.goal),
    always('Interface', task.interface),
    always('Done when', bullets(task.acceptance)),
  ];
}

export function filesSection({ files, tests }: ToldTask): Section {
  const presets = Object.keys(tests);
  return always(
    'Files',
    [
      `You may create and change only files that match:\n${bullets(files.allow)}`,
      files.forbid.length === 0 ? '' : `Never:\n${bullets(files.forbid)}`,
      presets.length === 0
        ? ''
        : `Acceptance tests that are written over whatever is there; the result must pass them:\n${bullets(presets.map(pathInText))}`,
      'Everything else is read-only: a change elsewhere makes the whole attempt fail. The working directory is the repository, without its history. Do not run git.',
    ]
      .filter(Boolean)
      .join('\n\n'),
  );
}

/** The Task Spec in short, as one text, for those who judge or merge its result. */
export function taskText({ id, goal, interface: stated, acceptance, files }: ToldTask): string {
  return [
    `Task ${id}`,
    goal.trim(),
    stated.trim() === '' ? '' : `Interface: ${stated.trim()}`,
    `Done when:\n${bullets(acceptance)}`,
    `Files that it may change:\n${bullets(files.allow)}`,
    files.forbid.length === 0 ? '' : `Never:\n${bullets(files.forbid)}`,
  ]
    .filter(Boolean)
    .join('\n\n');
}
