/** `npm run bench -- NAME [--json] [options]`: one file per benchmark; this reads the arguments, prints the rows, and exits 1 when a budget does not hold. */
import { parseArgs } from 'node:util';
import { createProgress } from '../cli/progress.ts';
import { describeError, EXIT, UserError } from '../cli/exit.ts';
import { gateway } from './gateway.ts';
import { overhead } from './overhead.ts';
import { table } from './row.ts';
import type { Row } from './row.ts';
import { sandbox } from './sandbox.ts';

const USAGE = `Usage: npm run bench -- NAME [--json] [options]

  sandbox    a sandbox from checkout to removed, against \`docker run --rm\`
             --pairs N       pairs measured, interleaved (default 15)
             --image NAME    default swarmline/node:22
  gateway    what it adds to a model call, and what many open streams cost in memory
             --pairs N       pairs measured (default 15; 300 for a p99 worth the name)
  overhead   what coordination adds to tasks of a fixed duration
             --seconds N     duration of every task's agent (default 120)
             --in-flight L   levels, comma-separated (default 8,64,256)
             --spread F      durations spread evenly over ±F of it (default 0)
             --real-activities  sandbox hosts make and judge trees with git (default: commits made before)
             --keep          leave the state folder and say where it is

--json prints an array of rows {"name","value","unit","peer","peerValue","ratio","budget","holds"}.
Exit: 0 every budget holds, 1 one does not, 2 bad arguments, 3 something is missing. What the figures mean: bench/README.md
`;

async function main(argv: string[]): Promise<number> {
  const { values, positionals } = parse(argv);
  if (values.help || positionals.length === 0) {
    process.stdout.write(USAGE);
    return values.help ? EXIT.done : EXIT.badInput;
  }
  const [name, ...more] = positionals;
  if (more.length > 0) throw bad(`One benchmark at a time; ${more[0]} is too much.`);
  const progress = createProgress();
  let rows: Row[];
  if (name === 'sandbox') {
    rows = await sandbox({ pairs: whole('--pairs', values.pairs, 1, 1000), image: values.image, progress });
  } else if (name === 'overhead') {
    rows = await overhead({
      seconds: number('--seconds', values.seconds, 0.1, 3600),
      levels: values['in-flight'].split(',').map((level) => whole('--in-flight', level, 1, 2000)),
      spread: number('--spread', values.spread, 0, 0.9),
      activities: values['real-activities'] ? 'real' : 'waiting',
      keep: values.keep,
      progress,
    });
  } else if (name === 'gateway') {
    rows = await gateway({ pairs: whole('--pairs', values.pairs, 1, 10_000), progress });
  } else throw bad(`There is no benchmark "${name}".`);
  process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : `${table(rows)}\n`);
  return rows.some(({ holds }) => holds === false) ? EXIT.failed : EXIT.done;
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        pairs: { type: 'string', default: '15' },
        image: { type: 'string', default: 'swarmline/node:22' },
        seconds: { type: 'string', default: '120' },
        'in-flight': { type: 'string', default: '8,64,256' },
        spread: { type: 'string', default: '0' },
        'real-activities': { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw bad(error instanceof Error ? error.message : String(error));
  }
}

const bad = (what: string): UserError => new UserError({ what, command: 'npm run bench -- --help' });

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw bad(`${name} ${text} is not a number from ${least} to ${most}.`);
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = number(name, text, least, most);
  if (Number.isInteger(value)) return value;
  throw bad(`${name} ${text} is not a whole number.`);
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const { exitCode, text } = describeError(error);
    if (text !== null) process.stderr.write(`${text}\n`);
    process.exit(exitCode);
  },
);
