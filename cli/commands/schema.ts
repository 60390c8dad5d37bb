/** `schema`: the JSON Schema of a spec for editors, or the reference page. */
import { Option, type Command } from 'commander';

export function register(program: Command): void {
  program
    .command('schema')
    .description('print the JSON Schema of a spec, for editors')
    .addOption(
      new Option('--format <format>', 'json: JSON Schema; markdown: the reference page')
        .choices(['json', 'markdown'])
        .default('json'),
    )
    .action(async ({ format }: { format: 'json' | 'markdown' }) => {
      const { referencePage, specJsonSchema } = await import('../../spec/reference.ts');
      process.stdout.write(format === 'json' ? `${JSON.stringify(specJsonSchema(), null, 2)}\n` : referencePage());
    });
}
