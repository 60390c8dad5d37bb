/**
 * Activities that decide without containers and git: the workflows are real, the server is real, only what they act on is a model in memory.
 * Who is red, where and how often is said by the test.
 */
import { Context } from '@temporalio/activity';
import type {
  Admitted,
  AskPlannerInput,
  AttemptActivities,
  HostActivities,
  MainlineActivities,
  PlanTaken,
  RecordActivities,
  RunReport,
} from '../../activities/contract.ts';
import type { GateLevel, GateResult, Line, LineEntry, PlanTask, Policy } from '../../spec/model.ts';

import { fakeReviews } from './fake-reviews.ts';
import type { Says } from './fake-reviews.ts';

export const POLICY: Policy = {
  schedule: 'waves',
  attempts: 4,
  fixAttempts: 2,
  inFlight: 20,
  overlap: 'refuse',
  approve: [],
  baseline: 'refuse',
  scaffold: [],
  breaks: [],
  gateProof: 'off',
  verify: 'batch',
  scope: 'ask',
  reviews: 'any-blocking',
  mutation: { check: 'off', timeMs: 300_000, faults: 20 },
  keepDays: 14,
};

export interface World {
  readonly plan: { id: string; dependsOn?: string[]; kind?: PlanTask['kind'] }[];
  readonly policy?: Partial<Policy>;
  /** Red when the agent runs: (task, attempt) → why. */
  readonly agentRed?: (task: string, attempt: number) => string | null;
  /** Red at the task's own gate. */
  readonly taskRed?: (task: string, attempt: number, waived: readonly string[]) => boolean;
  /** Red at the mainline or wave gate, by the requests on the line up to the judged commit. */
  readonly lineRed?: (level: GateLevel, requests: readonly string[]) => boolean;
  /** Somebody plans: what comes of a planner's answer, by what it was asked; `none`: it gave none. */
  readonly planner?: (asked: AskPlannerInput) => PlanTaken | { readonly none: string };
  readonly planning?: Partial<NonNullable<Admitted['planning']>>;
  /** Where this request conflicts: at the task's gate or on the line; null: nowhere. */
  readonly conflict?: (request: string) => 'gate' | 'line' | null;
  /** There is a merger; why its attempt is red, null: it is not. */
  readonly mergerRed?: (task: string, attempt: number) => string | null;
  readonly reviewers?: Admitted['reviewers'];
  /** Default: they approve. */
  readonly review?: Says;
  /** Tasks that bring decisions together, asked for at each integration point. */
  readonly reconcile?: () => PlanTask[];
  readonly answerScope?: (request: string, answer: string) => Awaited<ReturnType<MainlineActivities['answerScope']>>;
  /** Green points are measured; how long it takes is said by the test. */
  readonly evaluate?: (n: number) => Promise<void>;
  /** Milliseconds that an agent works. */
  readonly agentMs?: (task: string) => number;
}

const plain = (id: string): string => id.replaceAll(/[^a-z0-9]/gi, '');
/** A commit's id says what lies under it, so that a judged commit can be read back. */
const commitOf = (requests: readonly string[]): string =>
  `base${requests.map((request) => `+${plain(request)}`).join('')}`;

export class FakeWorld {
  readonly started: string[] = [];
  readonly asked: AskPlannerInput[] = [];
  readonly gates: string[] = [];
  readonly mergers: string[] = [];
  /** Of what was merged, by request. */
  readonly engines = new Map<string, string>();
  readonly startedFrom = new Map<string, string>();
  readonly reports: RunReport[] = [];
  readonly states = new Map<string, string>();
  readonly notified: string[] = [];
  readonly frozen: boolean[] = [];
  readonly logged: string[] = [];
  /** Green points whose measure is in. */
  readonly evaluated: number[] = [];
  cancelledAgents = 0;
  running = 0;
  peak = 0;
  paused = false;
  #line: { main: number; verified: number; requests: { id: string; task: string; attempt: number }[] } = {
    main: 0,
    verified: 0,
    requests: [],
  };
  #green = 0;
  readonly #answers = new Map<string, PlanTaken>();
  readonly #commits = new Map<string, readonly string[]>([['base', []]]);
  readonly world: World;
  readonly reviews: ReturnType<typeof fakeReviews>;

  constructor(world: World) {
    this.world = world;
    this.reviews = fakeReviews(
      world.reviewers ?? [],
      world.policy?.reviews ?? POLICY.reviews,
      world.review ?? (() => 'approve'),
    );
  }

  get landed(): string[] {
    return this.#line.requests.slice(0, this.#line.verified).map(({ id }) => id);
  }
  get main(): string[] {
    return this.#line.requests.slice(0, this.#line.main).map(({ id }) => id);
  }
  get greenPoints(): number {
    return this.#green;
  }

  #head(length: number): string {
    const requests = this.#line.requests.slice(0, length).map(({ id }) => id);
    const commit = commitOf(requests);
    this.#commits.set(commit, requests);
    return commit;
  }
  #read(): Line {
    const { main, verified, requests } = this.#line;
    const entries = requests.slice(main).map(({ id, task, attempt }, offset): LineEntry => ({
      commit: this.#head(main + offset + 1),
      request: id,
      task,
      attempt,
    }));
    return {
      main: this.#head(main),
      verified: this.#head(verified),
      next: this.#head(requests.length),
      entries,
      greenPoints: this.#green,
    };
  }

  mainline(): MainlineActivities {
    const planTask = ({ id, dependsOn = [], kind = 'work' }: World['plan'][number], index: number): PlanTask => ({
      id,
      dependsOn,
      kind,
      priority: 0,
      index,
    });
    return {
      admitRun: async (): Promise<Admitted> => ({
        name: 'fake',
        base: 'base',
        emptyRepository: false,
        plan: this.world.plan.map(planTask),
        policy: { ...POLICY, ...this.world.policy },
        notifyOn: ['blocked', 'red', 'green', 'done'],
        deliverTo: 'swarmline/fake',
        engines: {
          worker: { engine: 'command', model: null },
          ...(this.world.mergerRed === undefined ? {} : { merger: { engine: 'claude-code', model: 'opus' } }),
        },
        scaffold: [],
        ...(this.world.evaluate === undefined ? {} : { evaluate: true as const }),
        ...(this.world.reviewers === undefined ? {} : { reviewers: this.world.reviewers }),
        ...(this.world.planner === undefined
          ? {}
          : {
              planning: { asks: 3, calls: 5, replan: ['wave', 'blocked', 'timeout', 'scope'], ...this.world.planning },
            }),
      }),
      reconcileDecisions: async () => this.world.reconcile?.() ?? [],
      answerScope: async ({ request, answer }) =>
        this.world.answerScope?.(request, answer) ?? { refused: null, text: answer, task: null },
      takePlan: async ({ node, attempt }) => this.#answers.get(`${node}/${attempt}`)!,
      admitTask: async ({ raw }) => planTask(raw as World['plan'][number], 900),
      amendTask: async ({ task }) =>
        planTask(
          this.world.plan.find(({ id }) => id === task)!,
          0,
        ),
      readLine: async () => this.#read(),
      mergeRequests: async ({ requests }) => {
        const outcomes = requests.map(({ id, task, attempt, engine }) => {
          if (this.world.conflict?.(id) === 'line') return { id, kind: 'conflict' as const, paths: ['shared'] };
          this.engines.set(id, engine);
          if (!this.#line.requests.some((request) => request.id === id))
            this.#line.requests.push({ id, task, attempt });
          return { id, kind: 'merged' as const, commit: this.#head(this.#line.requests.length) };
        });
        return { outcomes, line: this.#read() };
      },
      advanceVerified: async ({ from, to }) => {
        const { verified, entries } = this.#read();
        if (verified !== from) throw new Error(`verified is ${verified}, not ${from}`);
        this.#line.verified = this.#line.main + entries.findIndex(({ commit }) => commit === to) + 1;
      },
      advanceMain: async ({ to }) => {
        this.#line.main = this.#commits.get(to)!.length;
        this.#green += 1;
        return { n: this.#green };
      },
      rebuildLine: async ({ onto, drop }) => {
        const keep = onto === 'main' ? this.#line.main : this.#line.verified;
        const { entries } = this.#read();
        const ejected = entries.filter(({ request }) => drop.includes(request));
        this.#line.requests = this.#line.requests.filter(({ id }, index) => index < keep || !drop.includes(id));
        this.#line.verified = keep;
        return { line: this.#read(), ejected, conflicts: [] };
      },
      deliverMain: async () => ({ commit: this.#head(this.#line.main), pushed: 'swarmline/fake', fetch: null }),
      collectGarbage: async () => ({ runs: 0, refs: 0, rows: 0 }),
    };
  }

  attempts(): AttemptActivities {
    return {
      runAgent: async ({ task, attempt, startFrom }) => {
        this.startedFrom.set(`${task}/${attempt}`, startFrom);
        this.started.push(`${task}/${attempt}`);
        this.running += 1;
        this.peak = Math.max(this.peak, this.running);
        const timer = setInterval(() => Context.current().heartbeat(), 500);
        try {
          await Context.current().sleep(this.world.agentMs?.(task) ?? 5);
        } catch (error) {
          this.cancelledAgents += 1;
          throw error;
        } finally {
          clearInterval(timer);
          this.running -= 1;
        }
        const why = this.world.agentRed?.(task, attempt) ?? null;
        return why === null
          ? { ok: true, commit: `${task}-${attempt}`, base: this.#head(this.#line.verified), changed: 1 }
          : { ok: false, cause: why === 'timeout' ? 'agent-timeout' : 'agent-failed', why };
      },
      askReconciler: async () => void this.asked.push({ run: '', node: 'reconciler', attempt: 0, occasion: '' }),
      askPlanner: async (asked) => {
        this.asked.push(asked);
        const said = this.world.planner!(asked);
        if ('none' in said) return { ok: false, cause: 'model-error', why: said.none };
        this.#answers.set(`${asked.node}/${asked.attempt}`, said);
        return { ok: true };
      },
      runGate: async ({ key, level, commit, task, attempt, waive = [], only, onto }): Promise<GateResult> => {
        this.gates.push(`${level}:${key}${onto === 'next' ? ' onto next' : ''}`);
        if (task !== null && this.world.conflict?.(`${task}/${attempt}`) === 'gate')
          return { outcome: 'conflict', paths: ['shared'] };
        const red =
          task === null
            ? (this.world.lineRed?.(level, this.#commits.get(commit) ?? []) ?? false)
            : (this.world.taskRed?.(task, attempt!, waive) ?? false);
        if (!red) return { outcome: 'green', steps: [], commit };
        const step = only?.[0] ?? 'test';
        const result = {
          step,
          ok: false,
          end: 'exited',
          exitCode: 1,
          durationMs: 1,
          failures: ['t'],
          flaky: false,
          tail: 'red',
        } as const;
        return { outcome: 'red', cause: 'gate-red', step, steps: [result], commit };
      },
      runMerge: async ({ task, attempt, of }) => {
        this.mergers.push(`${task}/${attempt} of ${of.attempt}`);
        const why = this.world.mergerRed?.(task, attempt) ?? null;
        if (why !== null) return { ok: false, cause: 'agent-failed', why };
        return { ok: true, commit: `${task}-${attempt}`, base: this.#head(this.#line.requests.length), changed: 1 };
      },
      runReview: this.reviews.runReview,
      evaluate: async ({ n }) => {
        await this.world.evaluate?.(n);
        this.evaluated.push(n);
        return { score: n };
      },
      proveGate: async () => ({ planted: [] }),
    };
  }

  host(): HostActivities {
    return {
      freeze: async () => {
        this.frozen.push(true);
        return this.running;
      },
      thaw: async () => {
        this.frozen.push(false);
        return this.running;
      },
      stop: async () => 0,
    };
  }

  records(): RecordActivities {
    return {
      askPersonForScope: async () => undefined,
      recordRun: async ({ changes, paused }) => {
        this.paused = paused;
        for (const { id, state } of changes) this.states.set(id, state);
      },
      finishRun: async ({ report }) => {
        this.reports.push(report);
        return report;
      },
      endAttempt: async () => undefined,
      decideReviews: this.reviews.decideReviews,
      hostsOfRun: async () => ['fake-host'],
      attemptsRunning: async () => this.running,
      notify: async ({ event, key }) => void this.notified.push(`${event}:${key}`),
      raiseBudget: async ({ of }) => ({ text: `raised for ${of ?? 'the run'}` }),
      addLogEntry: async ({ message }) => void this.logged.push(message),
    };
  }
}
