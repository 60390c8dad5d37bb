/** What the parts of runSpec share: the state, the open waves, and how to reach them. */
import {
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Admitted, Waiting } from '../activities/contract.ts';
import type { Approval, NotifyEvent } from '../spec/model.ts';
import { stateKey } from './attributes.ts';
import type { IntegrationResult } from './protocol.ts';
import { mainlineId, planChanged, waveId } from './protocol.ts';
import type { ScopeRequested } from './protocol.ts';
import { hostActivities, recordActivities } from './proxies.ts';
import { runDetails, waitingForPeople } from './run-details.ts';
import { Evaluations } from './run-evaluations.ts';
import type { GreenPointToMeasure } from './run-evaluations.ts';
import { RunPlanning } from './run-planning.ts';
import type { CarriedPlanning } from './plan-record.ts';
import { OpenParts } from './run-slots.ts';
import type { OpenPart } from './run-slots.ts';
import type { RunState } from './run-state.ts';

export class RunContext {
  readonly run: string;
  readonly admitted: Admitted;
  readonly state: RunState;
  readonly openParts: OpenParts;
  readonly integrations: IntegrationResult[] = [];
  /** null: nobody plans. */
  readonly planning: RunPlanning | null;
  readonly evaluations: Evaluations;
  readonly approved = new Set<Approval>();
  awaiting: { readonly what: Approval; readonly why: string; readonly sinceMs: number } | null = null;
  phase = 'prepare';
  wave = 0;
  parts = 0;
  greenPoints = 0;
  /** Tasks that landed, each landing counted. */
  landings = 0;
  main: string;
  paused = false;
  /** A budget that is spent: the run is paused until it is raised. */
  spent: { readonly why: string; readonly sinceMs: number; readonly wasPaused: boolean } | null = null;
  /** Raised by every signal and update; the main loop looks again. */
  stirred = false;
  /** The mainline has not heard of the newest plan. */
  planChanged = false;
  delivered: string | null = null;
  /** Why the run cannot go on: its mainline workflow failed. */
  broken: string | null = null;
  /** Requests for more files that nobody has answered, by key. */
  readonly scopeRequests = new Map<string, ScopeRequested & { readonly sinceMs: number; readonly why: string }>();
  /** Notifications sent already, by key. */
  readonly told = new Set<string>();
  #recorded = '';
  #writing = false;

  constructor(
    run: string,
    admitted: Admitted,
    state: RunState,
    parts: Iterable<readonly [string, OpenPart]> = [],
    carried: CarriedPlanning | null = null,
    toMeasure: readonly GreenPointToMeasure[] = [],
  ) {
    this.run = run;
    this.admitted = admitted;
    this.state = state;
    this.openParts = new OpenParts(admitted.policy.inFlight, parts);
    this.main = admitted.base;
    this.evaluations = new Evaluations(run, admitted.evaluate === true, toMeasure);
    const { planning } = admitted;
    this.planning =
      planning === undefined
        ? null
        : new RunPlanning(run, planning, state, carried, (planChanged) => {
            this.planChanged ||= planChanged;
            this.stirred = true;
          });
  }

  /** Nothing is left to do, and nobody will plan more. */
  isDone(): boolean {
    return this.state.isDone() && this.planning?.isDone !== false;
  }

  waiting(): Waiting[] {
    const { awaiting, run, spent } = this;
    const budget =
      spent === null
        ? []
        : [{ on: 'budget', why: spent.why, sinceMs: spent.sinceMs, command: `swarmline raise-budget ${run} --usd N` }];
    const approval =
      awaiting === null
        ? []
        : [
            {
              on: `approval: ${awaiting.what}`,
              why: awaiting.why,
              sinceMs: awaiting.sinceMs,
              command: `swarmline approve ${run} ${awaiting.what}`,
            },
          ];
    const scopes = [...this.scopeRequests.values()].map(({ request, task, paths, note, sinceMs, why }) => ({
      on: `files for ${task}`,
      why: `${paths.join(', ')}: ${note}${why === '' ? '' : ` (${why})`}`,
      sinceMs,
      command: `swarmline scope ${run} ${request} grant|refuse|task`,
    }));
    return [
      ...budget,
      ...approval,
      ...scopes,
      ...(this.planning?.waiting() ?? []),
      ...waitingForPeople(run, this.state),
    ];
  }

  /** Writes what changed to the store and shows it in the UI. One write at a time: of two at once the older might arrive last and stay. */
  async record(): Promise<void> {
    while (this.#writing) await condition(() => !this.#writing);
    const waiting = this.waiting();
    const phase = this.paused ? `${this.phase} (paused)` : this.phase;
    setCurrentDetails(runDetails(this.run, phase, this.state, this.greenPoints, waiting));
    const key = JSON.stringify([phase, waiting.map(({ on }) => on)]);
    if (key === this.#recorded && !this.state.hasChanges) return;
    this.#recorded = key;
    this.#writing = true;
    try {
      await recordActivities.recordRun.executeWithOptions({ summary: `record ${phase}` }, [
        {
          run: this.run,
          atMs: Date.now(),
          phase: this.phase,
          waiting,
          changes: this.state.changes(),
          paused: this.paused,
        },
      ]);
    } finally {
      this.#writing = false;
    }
  }

  async enter(phase: string): Promise<void> {
    this.phase = phase;
    upsertSearchAttributes([{ key: stateKey, value: phase }]);
    await this.record();
  }

  /** A named wait for a person. Fires notify, stands in the UI, ends with `approve`. */
  async approval(what: Approval, why: string): Promise<void> {
    if (!this.admitted.policy.approve.includes(what)) return;
    this.approved.delete(what);
    this.awaiting = { what, why, sinceMs: Date.now() };
    await this.record();
    await this.notify(
      'blocked',
      `approval-${what}-${this.wave}`,
      `${this.run} waits for approval of the ${what}: ${why}`,
    );
    await condition(() => this.approved.has(what));
    this.awaiting = null;
    await this.record();
  }

  async notify(event: NotifyEvent, key: string, text: string): Promise<void> {
    if (!this.admitted.notifyOn.includes(event)) return;
    await recordActivities.notify.executeWithOptions({ summary: `notify: ${event}` }, [
      { run: this.run, event, key, text },
    ]);
  }

  async tellPlan(): Promise<void> {
    await getExternalWorkflowHandle(mainlineId(this.run)).signal(planChanged, this.state.plan);
  }

  async eachOpenPart(act: (handle: ReturnType<typeof getExternalWorkflowHandle>) => Promise<void>): Promise<void> {
    for (const { wave, part } of this.openParts.values()) {
      try {
        await act(getExternalWorkflowHandle(waveId(this.run, wave, part)));
      } catch (error) {
        if (isCancellation(error)) throw error; // otherwise it has closed meanwhile
      }
    }
  }

  /** Acts on every host that holds containers of the run; a host that does not answer is named, not waited for. */
  async onHosts(
    act: (host: ReturnType<typeof hostActivities>) => Promise<number>,
  ): Promise<{ containers: number; silent: string[] }> {
    const hosts = await recordActivities.hostsOfRun({ run: this.run });
    const silent: string[] = [];
    const counts = await Promise.all(
      hosts.map(async (host) => {
        try {
          return await act(hostActivities(host));
        } catch {
          silent.push(host);
          return 0;
        }
      }),
    );
    return { containers: counts.reduce((sum, count) => sum + count, 0), silent };
  }

  /** Resolves once nothing of the run holds a container; asks the store every two seconds. */
  async drained(): Promise<void> {
    while ((await recordActivities.attemptsRunning({ run: this.run })) > 0) await sleep(2000);
  }
}
