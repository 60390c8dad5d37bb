/** `doctor`: what is there, what is missing, what to type. Changes nothing. */
import type { Command } from 'commander';
import { EXIT, QuietExit } from './exit.ts';
import type { Finding } from './setup/findings.ts';

const MARK: Record<Finding['state'], string> = { present: 'ok', stopped: '--', missing: 'MISSING' };

/** The findings as a table, each missing one with what to type. Pure. */
export function doctorLines(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ name }) => name.length));
  return findings.flatMap(({ name, state, detail, command }) => [
    `${MARK[state].padEnd(8)}${name.padEnd(width + 2)}${detail}`,
    ...(command ?? []).map((text, index) => `${' '.repeat(8)}${index === 0 ? 'type: ' : '      '}${text}`),
  ]);
}

export function register(program: Command): void {
  program
    .command('doctor')
    .description('what is on this machine, what is missing, and what to type')
    .option('--json', 'an array of {name, state, detail, command}', false)
    .action(async ({ json }: { json: boolean }) => {
      const [{ examine }, { loadSettings }] = await Promise.all([
        import('./setup/findings.ts'),
        import('./setup/settings.ts'),
      ]);
      const findings = await examine(loadSettings(process.env));
      if (json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
      else for (const line of doctorLines(findings)) process.stdout.write(`${line}\n`);
      if (findings.some(({ state }) => state === 'missing')) throw new QuietExit(EXIT.missing);
    });
}
