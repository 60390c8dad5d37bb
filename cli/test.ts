/** `test`: the whole suite, set-up included. Its last line sums up every check: `N passed, N failed`. */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { EXIT, QuietExit } from './exit.ts';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

const JestReport = z.object({
  success: z.boolean(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  /** Files that did not get as far as their first test. */
  numRuntimeErrorTestSuites: z.number(),
});

/** What a jest run counts for. A run that left no report, or failed without a failed test, is one failure. Pure. */
export function tallyJest(report: string | null, exitCode: number): Tally {
  let parsed;
  try {
    parsed = JestReport.safeParse(JSON.parse(report ?? ''));
  } catch {
    return { passed: 0, failed: 1 };
  }
  if (!parsed.success) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = parsed.data;
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

/** Sums up. Pure. */
export const sum = (tallies: readonly Tally[]): Tally => ({
  passed: tallies.reduce((total, { passed }) => total + passed, 0),
  failed: tallies.reduce((total, { failed }) => total + failed, 0),
});

/** Runs a program with our terminal; its exit code, or 1 when it did not start or was killed. */
function show(argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const [file, ...args] = argv;
  return new Promise((resolve) => {
    // Standard output carries our last line; what the checks print is for reading.
    const child = spawn(file!, args, { cwd, env, stdio: ['ignore', process.stderr, process.stderr] });
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function jest(
  project: string,
  patterns: readonly string[],
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), 'swarmline-report-'));
  const outputFile = join(folder, 'report.json');
  try {
    const exitCode = await show(
      [
        process.execPath,
        '--experimental-vm-modules',
        '--no-warnings=ExperimentalWarning',
        join(root, 'node_modules/jest/bin/jest.js'),
        '--selectProjects',
        project,
        '--json',
        '--outputFile',
        outputFile,
        '--passWithNoTests',
        ...patterns,
      ],
      root,
      env,
    );
    return tallyJest(await readFile(outputFile, 'utf8').catch(() => null), exitCode);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An environment in which no test can touch the user's own databases, runs or state. */
async function testEnvironment(stateDir: string, temporal: string | null): Promise<NodeJS.ProcessEnv> {
  const env: NodeJS.ProcessEnv = { ...process.env, SWARMLINE_STATE: stateDir };
  for (const name of ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'DATABASE_URL', 'SWARMLINE_HUB_TOKEN'])
    delete env[name];
  if (temporal !== null) env['SWARMLINE_TEMPORAL_BIN'] = temporal;
  return env;
}

export function register(program: Command): void {
  program
    .command('test')
    .description('the whole test suite, set-up included; the last line counts what passed and failed')
    .argument('[patterns...]', 'only test files that match; lint and typecheck are then left out')
    .option('-y, --yes', 'install what is missing without asking', false)
    .option('--unit', 'only what needs no service', false)
    .action(async (patterns: string[], { yes, unit }: { yes: boolean; unit: boolean }) => {
      const [{ ensureMachine }, { projectRoot }, { removeTree }] = await Promise.all([
        import('./setup/machine.ts'),
        import('./setup/root.ts'),
        import('../sandbox/owned-directory.ts'),
      ]);
      const root = projectRoot();
      const stateDir = await mkdtemp(join(tmpdir(), 'swarmline-test-'));
      await chmod(stateDir, 0o755);
      try {
        const machine = unit ? { temporal: null } : await ensureMachine({ yes });
        const env = await testEnvironment(stateDir, machine.temporal);
        const tallies: { name: string; tally: Tally }[] = [];
        const check = async (name: string): Promise<void> => {
          process.stderr.write(`\n── ${name}\n`);
          const failed = (await show(['npm', 'run', '--silent', name], root, env)) === 0 ? 0 : 1;
          tallies.push({ name, tally: { passed: 1 - failed, failed } });
        };
        if (patterns.length === 0) {
          await check('lint');
          await check('typecheck');
        }
        for (const project of unit ? ['unit'] : ['unit', 'integration']) {
          process.stderr.write(`\n── ${project} tests\n`);
          tallies.push({ name: `${project} tests`, tally: await jest(project, patterns, root, env) });
        }
        const total = sum(tallies.map(({ tally }) => tally));
        for (const { name, tally } of tallies) {
          process.stdout.write(
            `${name}: ${tally.failed === 0 ? 'ok' : 'FAILED'}, ${tally.passed} of ${tally.passed + tally.failed}\n`,
          );
        }
        process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
        if (total.failed > 0) throw new QuietExit(EXIT.failed);
      } finally {
        // Not fs.rm: a worker that a test killed may have left a workspace mounted.
        await removeTree(stateDir);
      }
    });
}
