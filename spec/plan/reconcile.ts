/** The task that brings two decisions together which decide the same. Pure. */
import { digest } from '../gate/signature.ts';
import { escapeGlob } from '../globs.ts';
import type { RoleName, TaskSpec } from '../model.ts';
import { safeId } from '../names.ts';
import type { Clash, Decision } from './decisions.ts';

/**
 * @param files that refer to either decision, or hold what they fix: all that the task may change
 * @throws RangeError when there are none, since a task has a scope
 */
export function reconcileTask(
  clash: Clash,
  decisions: readonly Decision[],
  files: readonly string[],
  role: RoleName = 'reconciler',
): TaskSpec {
  if (files.length === 0) throw new RangeError('a reconcile task needs files that it may change');
  const told = [clash.a, clash.b].map((id) => {
    const decision = decisions.find((one) => one.id === id);
    return `\`${id}\` of ${decision?.owner || 'the first planner'}, about ${decision?.subject ?? id}: ${decision?.text.trim() ?? ''}`;
  });
  const both = {
    subject: 'the same subject',
    interfaces: `the same interfaces (${clash.names.join(', ')})`,
    reconciler: `the same thing, as a reconciler found (${clash.names.join(', ')})`,
  }[clash.why];
  return {
    id: reconcileId(clash),
    kind: 'reconcile',
    goal: `Two decisions are about ${both}:\n\n- ${told.join('\n- ')}\n\nKeep one of them, or decide anew with \`record_decision\`, and make everything that follows either of them follow the one that stands.`,
    interface: '',
    files: { allow: files.map(escapeGlob), forbid: [], reference: [] },
    acceptance: [
      `No file refers to more than one of \`${clash.a}\`, \`${clash.b}\` and what takes their place.`,
      'The gate passes.',
    ],
    tests: {},
    dependsOn: [],
    priority: 0,
    role,
    run: null,
    script: null,
    mayBeEmpty: false,
  };
}

/** The same for the same two, so that one clash makes one task, however often it is found. */
export function reconcileId({ a, b }: Pick<Clash, 'a' | 'b'>): string {
  const id = `reconcile-${a}-${b}`;
  return id.length <= 63 && safeId(id) === id
    ? id
    : `${safeId(id.slice(0, 45)) || 'reconcile'}-${digest(`${a}\n${b}`)}`;
}
