/**
 * What happened during a run, as seen from outside: every container that was started, from the engine's own events; and what the store held
 * when, by asking again and again.
 *
 * It goes on through the loss of either. What it has not seen it does not claim.
 */
import type Docker from 'dockerode';
import type { Pool } from '../../store/index.ts';
import type { System } from './system.ts';

export interface Start {
  readonly atMs: number;
  readonly container: string;
  /** `<task>/<attempt>`; '' for a container of the run itself. */
  readonly attempt: string;
  /** agent, gate, verify, … */
  readonly kind: string;
}

export interface Seen {
  /** Of the run, null while it goes on. */
  readonly outcome: string | null;
  /** `<task>/<attempt>` */
  readonly attempts: Readonly<Record<string, { readonly outcome: string | null; readonly agentDone: boolean }>>;
  /** `<task>/<attempt>` whose task-level gate has a result. */
  readonly gates: readonly string[];
  /** Tasks in state passed. */
  readonly passed: number;
  /** Changes whenever anything was done. */
  readonly print: string;
}

export interface Witness {
  readonly starts: readonly Start[];
  /** Container → when it ended, as far as that was seen. */
  readonly ends: ReadonlyMap<string, number>;
  readonly seen: Seen;
  /** `<task>/<attempt>` → a moment at which the result of its agent (its gate) was surely recorded. */
  readonly agentDone: ReadonlyMap<string, number>;
  readonly gateDone: ReadonlyMap<string, number>;
  /** `<task>/<attempt>` of every agent whose container runs now and whose result is not recorded. */
  agentsAtWork(): string[];
  /** Waits until `test` holds; throws when it does not within `ms`. */
  when<T>(what: string, test: (seen: Seen) => T | null | false, ms: number): Promise<T>;
  close(): void;
}

const NOTHING: Seen = { outcome: null, attempts: {}, gates: [], passed: 0, print: '' };
const EVERY_MS = 100;

export function openWitness(system: System, run: string): Witness {
  const starts: Start[] = [];
  const ends = new Map<string, number>();
  const agentDone = new Map<string, number>();
  const gateDone = new Map<string, number>();
  let seen = NOTHING;
  const stop = new AbortController();

  const listen = listenTo(system.docker, system.instance, (event) => {
    const { Action: action, Actor: actor, timeNano } = event;
    const atMs = timeNano / 1e6;
    if (action === 'die') ends.set(actor.ID, atMs);
    if (action !== 'start' || starts.some(({ container }) => container === actor.ID)) return;
    const label = (name: string): string => actor.Attributes[`swarmline.${name}`] ?? '';
    const attempt = label('task') === '' ? '' : `${label('task')}/${label('attempt')}`;
    starts.push({ atMs, container: actor.ID, attempt, kind: label('kind') });
  });

  const ask = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const now = await look(system.db, run).catch(() => null); // it may be down: that is what these tests are about
      if (now !== null) {
        seen = now;
        const atMs = Date.now();
        for (const [id, { agentDone: done }] of Object.entries(now.attempts))
          if (done && !agentDone.has(id)) agentDone.set(id, atMs);
        for (const id of now.gates) if (!gateDone.has(id)) gateDone.set(id, atMs);
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  };
  void ask();

  return {
    starts,
    ends,
    agentDone,
    gateDone,
    get seen() {
      return seen;
    },
    agentsAtWork: () =>
      starts
        .filter(({ kind, container, attempt }) => kind === 'agent' && !ends.has(container) && !agentDone.has(attempt))
        .map(({ attempt }) => attempt),
    async when(what, test, ms) {
      for (const deadline = Date.now() + ms; ;) {
        const answer = test(seen);
        if (answer !== null && answer !== false) return answer;
        if (Date.now() > deadline)
          throw new Error(`Waited ${ms} ms in vain: ${what}. Last seen: ${JSON.stringify(seen)}`);
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS / 2));
      }
    },
    close() {
      stop.abort();
      listen.close();
    },
  };
}

async function look(db: Pool, run: string): Promise<Seen> {
  const { rows } = await db.query<{
    outcome: string | null;
    attempts: Row[] | null;
    gates: string[] | null;
    passed: number;
    print: string;
  }>(
    `with a as (select task || '/' || attempt as id, phase, outcome, agent_result is not null as done from attempts where run = $1),
          g as (select key, level from gate_runs where run = $1),
          m as (select request, state from merges where run = $1)
     select (select outcome from runs where id = $1) as outcome,
       (select json_agg(a) from a) as attempts,
       (select json_agg(key) from g where level = 'task') as gates,
       (select count(*)::integer from tasks where run = $1 and state = 'passed') as passed,
       md5(concat((select json_agg(a order by id) from a), (select json_agg(g order by key, level) from g),
         (select json_agg(m order by request) from m), (select count(*) from green_points where run = $1))) as print`,
    [run],
  );
  const row = rows[0]!;
  const attempts = (row.attempts ?? []).map(({ id, outcome, done }) => [id, { outcome, agentDone: done }] as const);
  return { ...row, attempts: Object.fromEntries(attempts), gates: row.gates ?? [] };
}
interface Row {
  readonly id: string;
  readonly outcome: string | null;
  readonly done: boolean;
}

// ───────────────────────────── the engine's events ─────────────────────────────

interface EngineEvent {
  readonly Action: string;
  readonly Actor: { readonly ID: string; readonly Attributes: Readonly<Record<string, string>> };
  readonly timeNano: number;
}

/** Every event of the instance's containers, once or more; after a loss of the engine from where it broke off. */
function listenTo(docker: Docker, instance: string, told: (event: EngineEvent) => void): { close(): void } {
  const stop = new AbortController();
  let stream: (NodeJS.ReadableStream & { destroy?(): void }) | null = null;
  let sinceMs = Date.now();
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        const filters = {
          type: ['container' as const],
          event: ['start', 'die'],
          label: [`swarmline.instance=${instance}`],
        };
        const events = await docker.getEvents({ since: sinceMs / 1000, filters });
        stream = events;
        if (stop.signal.aborted) stream.destroy?.();
        await readLines(events, (line) => {
          const event = JSON.parse(line) as EngineEvent;
          sinceMs = Math.max(sinceMs, event.timeNano / 1e6);
          told(event);
        });
      } catch {
        // Away for now.
      }
      if (!stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  void follow();
  return {
    close() {
      stop.abort();
      stream?.destroy?.();
    },
  };
}

function readLines(stream: NodeJS.ReadableStream, line: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const one of lines) if (one.trim() !== '') line(one);
    });
    stream.on('error', reject);
    stream.on('close', () => resolve());
    stream.on('end', () => resolve());
  });
}
