/** What the models of examples/words answer, by whose prompt they are given: planners, workers, the reviewer, the merger. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelAnswer, ModelRequest, ModelScript } from '../model-server/index.ts';
import { ALL, COMMANDS, MAIN, MERGED, NOTES, SCAFFOLD } from './program.ts';
import type { PlayedTask } from './program.ts';

const USAGE = { input: 2_000, cached: 1_000, output: 200 };

const planned = ({ id, kind, goal, interface: stated, allow, dependsOn, acceptance }: PlayedTask): object => ({
  id,
  goal,
  files: { allow },
  acceptance,
  ...(kind === undefined ? {} : { kind }),
  ...(stated === undefined ? {} : { interface: stated }),
  ...(dependsOn === undefined ? {} : { dependsOn }),
});
const json = (answer: object): string => `\`\`\`json\n${JSON.stringify(answer, null, 1)}\n\`\`\``;

const FIRST_PLAN = {
  decisions: [
    {
      id: 'words-split',
      subject: 'what a word is',
      text: 'What stands between white space; see src/words-of.js.',
      interfaces: ['wordsOf'],
    },
  ],
  tasks: [...SCAFFOLD, ...NOTES, ...COMMANDS].map(planned),
  scopes: [
    {
      id: 'command-line',
      goal: 'The commands can be called: `node src/main.js COMMAND FILE`, as the goal says.',
      files: ['src/main.js', 'src/usage.js', 'test/main.test.js', 'bin/**'],
      dependsOn: COMMANDS.map(({ id }) => id),
    },
  ],
  scaffold: SCAFFOLD.map(({ id }) => id),
};
/** Names no scaffold, and gives two tasks the same file. */
const WRONG_PLAN = {
  ...FIRST_PLAN,
  scaffold: [],
  tasks: [...FIRST_PLAN.tasks, planned({ ...COMMANDS[0]!, id: 'count-again' })],
};
const COMMAND_LINE_PLAN = {
  tasks: MAIN.map(planned),
  integration: [{ of: 'usage', by: 'main', test: 'test/main.test.js' }],
};

export const promptOf = ({ messages }: ModelRequest): string => messages.map(({ text }) => text).join('\n');

function planner(prompt: string): string {
  if (prompt.includes('# Your last answer was sent back')) return json(FIRST_PLAN);
  if (prompt.includes('# Why you are called now')) return json({ done: true });
  return json(prompt.includes('# Your part') ? COMMAND_LINE_PLAN : WRONG_PLAN);
}

/** Rejects a test that cannot fail; approves the rest. */
function reviewer(prompt: string): string {
  const finding = {
    severity: 'blocking',
    file: 'test/unique.test.js',
    line: 5,
    text: 'The test passes whatever unique returns.',
  };
  return /assert\.ok\(/.test(prompt)
    ? json({ verdict: 'reject', findings: [finding], summary: 'Its test proves nothing.' })
    : json({ verdict: 'approve', findings: [], summary: 'Good.' });
}

/** Writes files with the agent's own tools. */
function writes(request: ModelRequest, files: Readonly<Record<string, string | null>>): ModelAnswer {
  const entries = Object.entries(files);
  if (request.format === 'anthropic') {
    const tools = entries.map(([path, content]) =>
      content === null
        ? { name: 'Bash', input: { command: `rm ${path}`, description: `Remove ${path}` } }
        : { name: 'Write', input: { file_path: `/workspace/${path}`, content } },
    );
    return { text: 'I write it.', tools, usage: USAGE };
  }
  const script = entries.map(([path, content]) =>
    content === null
      ? `rm ${path}`
      : `mkdir -p "$(dirname ${path})" && cat > ${path} <<'END_OF_FILE'\n${content}END_OF_FILE`,
  );
  return { text: 'I write it.', tools: [{ name: 'exec_command', input: { cmd: script.join('\n') } }], usage: USAGE };
}

/** Two that conflict begin together: each waits until the other has begun too, or for so long. */
const TOGETHER_MS = 30_000;
const begun = new Set<string>();
async function together(id: string): Promise<void> {
  begun.add(id);
  for (const end = Date.now() + TOGETHER_MS; Date.now() < end; await delay(100))
    if (NOTES.every((task) => begun.has(task.id))) return;
}

async function worker(request: ModelRequest, prompt: string): Promise<ModelAnswer> {
  const id = /# Task ([a-z0-9-]+)/.exec(prompt)?.[1];
  const task = ALL.find((one) => one.id === id);
  if (task === undefined || request.turn > 0) return { text: 'Done.', usage: USAGE };
  if (NOTES.includes(task)) await together(task.id);
  const wasTold = prompt.includes('# Earlier attempt');
  return writes(request, task.wrong === undefined || wasTold ? task.files : task.wrong);
}

export const wordsScript: ModelScript = (request) => {
  const prompt = promptOf(request);
  if (prompt.includes('# You plan')) {
    // A planner that would edit: its tool tells it that it cannot, and it goes on to plan.
    if (request.turn === 0 && !prompt.includes('# Your last answer was sent back') && !prompt.includes('# Your part'))
      return {
        text: 'I try.',
        tools: [{ name: 'Write', input: { file_path: '/workspace/planner.txt', content: 'mine' } }],
        usage: USAGE,
      };
    return { text: planner(prompt), usage: USAGE };
  }
  if (prompt.includes('# You review')) return { text: reviewer(prompt), usage: USAGE };
  if (prompt.includes('# You merge'))
    return request.turn > 0 ? { text: 'Merged.', usage: USAGE } : writes(request, MERGED);
  return worker(request, prompt);
};
