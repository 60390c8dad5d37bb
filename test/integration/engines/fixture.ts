/** A real agent program in a hardened container, behind the real gateway; the model is a script, the counts are in memory. */
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgress } from '../../../cli/progress.ts';
import { ensureAiderImage } from '../../../cli/setup/image-aider.ts';
import { AGENTS_IMAGE, AIDER_IMAGE, SANDBOX_IMAGE } from '../../../cli/setup/image-inputs.ts';
import { ensureImage } from '../../../cli/setup/image.ts';
import { ensureAgentsImage } from '../../../cli/setup/image-agents.ts';
import { loadSettings } from '../../../cli/setup/settings.ts';
import { EGRESS_DIR, ENGINE_DIR, engineFor } from '../../../engines/index.ts';
import type { EngineOutcome } from '../../../engines/index.ts';
import { controlPath, createGatewayClient, createMcp, startGateway } from '../../../gateway/index.ts';
import type { CallResult, Gateway, Ledger, ToolPort, Upstream, WantedCall } from '../../../gateway/index.ts';
import type { EngineRecipe, TaskSpec } from '../../../spec/model.ts';
import { startModelServer } from '../../../bench/model-server/index.ts';
import type { ModelServer } from '../../../bench/model-server/index.ts';
import { LIMITS, openBench } from '../sandbox/fixture.ts';
import type { Bench } from '../sandbox/fixture.ts';

export const KEYS = { anthropic: 'sk-real-anthropic-51d2', openai: 'sk-real-openai-90be' } as const;

export interface AgentRun {
  readonly outcome: EngineOutcome;
  readonly output: string;
  /** A file of the workspace, as the agent left it; null: there is none. */
  readonly file: (name: string) => Promise<string | null>;
}
export interface AgentBench {
  readonly bench: Bench;
  readonly models: ModelServer;
  /** Calls whose end the gateway has told, in the order in which they ended. */
  readonly settled: { readonly call: WantedCall; readonly result: CallResult }[];
  readonly gatewayLog: () => string;
  /** @param model also names the attempt, so that calls can be told apart */
  run(
    engine: string,
    model: string,
    more?: {
      readonly deadlineMs?: number;
      /** Of the spec. */
      readonly engines?: Readonly<Record<string, EngineRecipe>>;
      /** Further files of the workspace. */
      readonly files?: Readonly<Record<string, string>>;
    },
  ): Promise<AgentRun>;
  /** From now on no call is let through: the budget of its task is spent. null: all are. */
  deny(why: string | null): void;
  stopGateway(): Promise<void>;
  startGateway(): Promise<void>;
  close(): Promise<void>;
}

const IMAGES = {
  agents: { image: AGENTS_IMAGE, ensure: ensureAgentsImage },
  aider: { image: AIDER_IMAGE, ensure: ensureAiderImage },
  plain: { image: SANDBOX_IMAGE, ensure: ensureImage },
} as const;

export async function openAgentBench(kind: keyof typeof IMAGES = 'agents'): Promise<AgentBench> {
  const bench = openBench();
  const { image, ensure } = IMAGES[kind];
  await ensure(bench.docker, {
    cacheDir: loadSettings(process.env).cacheDir,
    yes: true,
    progress: createProgress({ write: () => true }),
  });
  const models = await startModelServer(() => ({}));
  const settled: AgentBench['settled'] = [];
  let logged = '';
  let denied: string | null = null;
  const note = (fields: object, message: string): void => void (logged += JSON.stringify({ ...fields, message }));
  const log = { info: note, warn: note };
  const ledger: Ledger = {
    reserve: () =>
      Promise.resolve(denied === null ? { ok: true } : { ok: false, refusal: 'denied', why: denied, retryMs: 1_000 }),
    settle: (call, result) => Promise.resolve(void settled.push({ call, result })),
  };
  const dir = join(bench.stateDir, 'gateway');
  const upstream = (url: string, key: string): Upstream => ({
    url,
    key: () => Promise.resolve(key),
    requestsPerMinute: null,
    tokensPerMinute: null,
  });
  const start = (): Promise<Gateway> =>
    startGateway({
      dir,
      upstreams: {
        anthropic: upstream(models.url, KEYS.anthropic),
        openai: upstream(`${models.url}/v1`, KEYS.openai),
      },
      ledger,
      mcp: createMcp({ readLog: () => Promise.resolve([]) } as unknown as ToolPort, log),
      log,
      onBudget: () => undefined,
    });
  let gateway = await start();
  const client = createGatewayClient(controlPath(dir));
  let count = 0;

  return {
    bench,
    models,
    settled,
    gatewayLog: () => logged,
    async run(name, model, { deadlineMs = 120_000, engines = {}, files: further = {} } = {}) {
      const engine = engineFor(name, engines);
      const prompt = 'Write hello.txt with the word hello.';
      const command = engine.command({ task, role: { engine: name, model }, lastFailure: null, prompt });
      const files = await mkdtemp(join(bench.stateDir, 'in-'));
      await chmod(files, 0o755);
      for (const [file, content] of Object.entries(command.files)) await writeFile(join(files, file), content);
      const workspace = await bench.workspace(
        bench.repository({ 'README.md': 'Say hello.\n', 'src/old.txt': 'olleh\n', ...further }),
      );
      const caller = { run: 'r1', task: model, attempt: ++count, role: 'worker', model };
      const egress = await client.open(caller);
      await mkdir(join(bench.stateDir, 'out'), { recursive: true });
      const request = bench.request(command.argv, {
        image,
        env: command.env,
        workspace: { dir: workspace.dir, readOnly: false },
        mounts: [
          { source: files, target: ENGINE_DIR, readOnly: true },
          { source: egress, target: EGRESS_DIR, readOnly: true },
        ],
        stdinFile: command.stdinFile,
        limits: { ...LIMITS, memoryBytes: 2 ** 30, pids: 512 },
        deadlineMs,
      });
      try {
        const { end, exitCode } = await bench.sandbox.runStep(request, {});
        const output = await readFile(request.outputFile, 'utf8');
        const file = (path: string) => readFile(join(workspace.dir, path), 'utf8').catch(() => null);
        return { outcome: engine.outcome({ end, exitCode, output }), output, file };
      } finally {
        await client.close(caller);
      }
    },
    deny: (why) => void (denied = why),
    stopGateway: () => gateway.stop(),
    startGateway: async () => void (gateway = await start()),
    async close() {
      await gateway.stop();
      await models.close();
      await bench.close();
    },
  };
}

const task: TaskSpec = {
  id: 'hello',
  kind: 'work',
  goal: 'Write hello.txt.',
  interface: '',
  files: { allow: ['hello.txt', 'src/*.txt'], forbid: [], reference: ['README.md'] },
  acceptance: ['It says hello.'],
  tests: {},
  dependsOn: [],
  priority: 0,
  role: 'worker',
  run: null,
  script: [],
  mayBeEmpty: false,
};
