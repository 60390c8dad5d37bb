/** `demo`: a real batch refactor of a real repository, from nothing to commits that can be read. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { createProgress } from './progress.ts';
import { bringUp } from './up.ts';

/** The spec of the demonstration as JSON for `temporal workflow start`, its repository the prepared one. Pure. */
export function demoSpec(spec: Record<string, unknown>, repository: string): string {
  const given = (spec['repository'] ?? {}) as Record<string, unknown>;
  return `${JSON.stringify({ ...spec, repository: { ...given, url: pathToFileURL(repository).href } }, null, 2)}\n`;
}

/** A run id that is free: the demonstration may be shown as often as one likes. Pure. */
export const demoRunId = (full: boolean, at: Date): string =>
  `demo-${full ? 'full-' : ''}${at.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;

async function runDemo({ full, yes }: { full: boolean; yes: boolean }): Promise<void> {
  const progress = createProgress();
  const { settings, ui } = await bringUp(process.env, { yes, progress });
  const [{ run }, { projectRoot }, { findTemporal }, { temporalAddress }, { parse }, { withContext }, { watch }] =
    await Promise.all([
      import('./setup/exec.ts'),
      import('./setup/root.ts'),
      import('./setup/temporal.ts'),
      import('./setup/temporal-server.ts'),
      import('yaml'),
      import('./context.ts'),
      import('./watch.ts'),
    ]);
  const root = projectRoot();
  const folder = join(settings.stateDir, 'demo');
  await mkdir(folder, { recursive: true });
  const repository = await progress.step('preparing the repository of the demonstration', async (note) => {
    const printed = await run([process.execPath, join(root, 'examples/zod/prepare.mjs'), '--out', folder], {
      cwd: root,
      onLine: note,
    });
    return printed.trimEnd().split('\n').at(-1)!;
  });
  const spec = parse(await readFile(join(root, 'examples/zod', full ? 'full.yaml' : 'small.yaml'), 'utf8')) as Record<
    string,
    unknown
  >;
  const id = demoRunId(full, new Date());
  const input = join(folder, `${id}.json`);
  await writeFile(input, demoSpec(spec, repository));
  const temporal = (await findTemporal(settings)) ?? 'temporal';
  const start = [
    'workflow',
    'start',
    '--type',
    'runSpec',
    '--task-queue',
    'swarmline',
    '--workflow-id',
    id,
    '--input-file',
    input,
    '--fail-existing',
    '--address',
    temporalAddress(settings),
    '--namespace',
    settings.namespace,
  ];
  process.stdout.write(`temporal ${start.join(' ')}\n`);
  await run([temporal, ...start]);
  const link = ui === null ? null : `${ui}/namespaces/${settings.namespace}/workflows/${id}`;
  if (link !== null) process.stdout.write(`Watch it in the Temporal UI: ${link}\n`);
  try {
    await withContext((context) => watch(context, id, { json: false }));
  } finally {
    const branch = `swarmline/${typeof spec['name'] === 'string' ? spec['name'] : id}`;
    process.stdout.write(
      [
        '',
        'Where to look:',
        `  the commits        git -C ${repository} log --oneline --graph ${branch}`,
        `  what they changed  git -C ${repository} diff --stat HEAD...${branch}`,
        `  the run            ./swarmline status ${id}`,
        ...(link === null ? [] : [`  the workflows      ${link}`]),
        '',
      ].join('\n'),
    );
  }
}

export function register(program: Command): void {
  program
    .command('demo')
    .description('start everything, run a real batch refactor in Docker, and say where to look')
    .option('--full', 'the whole demonstration, under an hour on two cores', false)
    .option('-y, --yes', 'install what is missing without asking', false)
    .action((options: { full: boolean; yes: boolean }) => runDemo(options));
}
