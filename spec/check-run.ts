/** Everything of a spec that is not a task or the gate: names, repository, sandbox, roles, notification, delivery. */
import { checkEngines } from './check-engines.ts';
import { checkEvaluate } from './check-evaluate.ts';
import { checkAnswering } from './check-answering.ts';
import type { Checking } from './checking.ts';
import { SYSTEM_DIRECTORIES } from './defaults.ts';
import type { RawSpec } from './fields.ts';
import { branchProblem, credentialProblem, idProblem, imageProblem, urlProblem, webhookProblem } from './names.ts';
import { globProblem, isLiteral } from './globs.ts';
import { unpricedRoles } from './prices.ts';
import { pathParts } from './problems.ts';

export function checkRun(check: Checking, spec: RawSpec): void {
  check.sayIf(['name'], idProblem(spec.name));
  if (spec.goal.trim() === '') check.say(['goal'], 'is empty; say what is true at the end');
  checkRepository(check, spec.repository);
  checkSandbox(check, spec.sandbox);
  checkDelivery(check, spec);
  checkNotify(check, spec.notify);
  if (check.prices !== null)
    for (const { path, message } of unpricedRoles(spec, check.prices)) check.say(pathParts(path), message);
  for (const name of ['splitter', 'reconciler'] as const) {
    const isUsed = spec.roles.planner !== null || spec.tasks.some(({ role }) => role === name);
    if (spec.roles[name] !== null && !isUsed)
      check.warn(
        ['roles', name],
        'has no effect: no task names it as its role, and no planner (roles.planner) could plan one',
      );
  }
  checkEngines(check, spec);
  checkAnswering(check, spec);
  checkEvaluate(check, spec.policy.evaluate);
  if (spec.policy.baseline === 'record' && spec.gate.report['test'] === undefined) {
    check.say(
      ['policy', 'baseline'],
      '"record" tells old failures from new ones by name, and needs a report of the tests: set gate.report.test (JUnit or TAP), or use "refuse"',
    );
  }
}

function checkRepository(check: Checking, repository: RawSpec['repository']): void {
  const { url, empty, credentials } = repository;
  if (url === null && !empty)
    check.say(
      ['repository', 'url'],
      'is required (https://…, ssh://…, file:///…), or say "empty: true" to start from nothing',
    );
  if (url !== null && empty)
    check.say(['repository', 'empty'], 'stands beside a url: a run either starts from that repository or from nothing');
  if (url !== null) check.sayIf(['repository', 'url'], urlProblem(url));
  check.sayIf(['repository', 'branch'], branchProblem(repository.branch));
  if (credentials !== null) check.sayIf(['repository', 'credentials'], credentialProblem(credentials));
  const { fieldGuide } = repository;
  const folderProblem =
    globProblem(fieldGuide) ?? (isLiteral(fieldGuide) ? null : `"${fieldGuide}" is a glob; name one folder`);
  check.sayIf(
    ['repository', 'fieldGuide'],
    folderProblem ?? (fieldGuide.endsWith('/') ? 'names a folder; leave the "/" at its end out' : null),
  );
  for (const list of ['contracts', 'manifests', 'protected', 'union'] as const)
    check.globs(['repository', list], repository[list] ?? []);
}

function checkSandbox(check: Checking, sandbox: RawSpec['sandbox']): void {
  check.sayIf(['sandbox', 'image'], imageProblem(sandbox.image));
  const { setup } = sandbox;
  if (setup !== null) {
    const at = ['sandbox', 'setup'];
    if (setup.run.trim() === '') check.say([...at, 'run'], 'is empty; without a command leave "setup" out');
    setup.files.forEach((file, i) => {
      const why =
        globProblem(file) ??
        (isLiteral(file) ? null : `"${file}" is a glob; name the manifests and lockfiles one by one`);
      check.sayIf(
        [...at, 'files', i],
        why ?? (check.files !== null && !check.fileSet.has(file) ? `"${file}" is not in the repository` : null),
      );
    });
    if (!/^[A-Za-z0-9._][A-Za-z0-9._-]*$/.test(setup.provides) || ['.', '..'].includes(setup.provides)) {
      check.say(
        [...at, 'provides'],
        'must be the name of one directory, such as "node_modules" or ".venv"; it is mounted at "/<name>"',
      );
    } else if (SYSTEM_DIRECTORIES.has(setup.provides)) {
      check.say([...at, 'provides'], `would cover "/${setup.provides}" of the container; choose another name`);
    }
  }
  for (const [name, service] of Object.entries(sandbox.services)) {
    const at = ['sandbox', 'services', name];
    check.sayIf(at, idProblem(name));
    check.sayIf([...at, 'image'], imageProblem(service.image));
    for (const key of Object.keys(service.env)) {
      if (!/^[A-Za-z_]\w*$/.test(key)) check.say([...at, 'env', key], 'is no name of an environment variable');
    }
    if (service.ready?.trim() === '')
      check.say([...at, 'ready'], 'is empty; leave it out where nothing has to be waited for');
  }
}

function checkDelivery(check: Checking, spec: RawSpec): void {
  const { branch, fastForward } = spec.deliver;
  if (branch !== null && fastForward !== null)
    check.say(['deliver'], 'names both a branch to push and a branch to fast-forward; choose one');
  if (spec.repository.empty && (branch !== null || fastForward !== null)) {
    check.say(
      ['deliver'],
      'an empty repository has no origin to deliver to; leave "deliver" out, the result stays in the hub and can be fetched',
    );
  }
  if (branch !== null) {
    check.sayIf(['deliver', 'branch'], branchProblem(branch));
    if (branch === spec.repository.branch)
      check.say(
        ['deliver', 'branch'],
        `is the branch that the work starts from; to move it write "deliver: {fastForward: ${branch}}"`,
      );
  }
  if (fastForward !== null && fastForward !== spec.repository.branch) {
    check.say(
      ['deliver', 'fastForward'],
      `must be repository.branch ("${spec.repository.branch}"): only the branch that the work starts from can be fast-forwarded to it`,
    );
  }
}

function checkNotify(check: Checking, notify: RawSpec['notify']): void {
  if (notify.webhook !== null) check.sayIf(['notify', 'webhook'], webhookProblem(notify.webhook));
  if (notify.run?.[0]?.trim() === '') check.say(['notify', 'run', 0], 'is empty; the first entry is the program');
}
