/** `npm run play`: plays the models of examples/words on 127.0.0.1:7431 until it is interrupted, and says what it was asked. */
import { startModelServer } from './model-server/index.ts';
import { promptOf, wordsScript } from './words/script.ts';

const PORT = 7431;

const title = (prompt: string): string => /^# (.+)$/m.exec(prompt)?.[1] ?? 'something else';

async function main(): Promise<void> {
  const { url } = await startModelServer(async (request) => {
    const answer = await wordsScript(request);
    const tools = answer.tools?.map(({ name }) => name).join(', ') ?? '';
    process.stdout.write(`${request.model}: ${title(promptOf(request))} → ${tools === '' ? 'an answer' : tools}\n`);
    return answer;
  }, PORT);
  process.stdout.write(
    `The models of examples/words are played at ${url}. In another shell:\n` +
      '  SWARMLINE_UPSTREAMS=$PWD/examples/words/played.json ./swarmline up --yes\n' +
      '  ./swarmline run examples/words/spec.yaml --id words-1 --watch\n',
  );
}

main().catch((error: unknown) => {
  const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  process.stderr.write(
    isTaken
      ? `Port ${PORT} is taken: perhaps the models are played already.\n  type: ss -ltnp | grep ${PORT}\n`
      : `${String(error)}\n`,
  );
  process.exit(1);
});
