/** The attempt's store over Postgres. */
import {
  addLogEntry, endAttempt, lastFailure, listDecisions, listEvaluations, listLogEntries, listReviews, listTasks, loadAgentResult, loadArtifact, loadGateResult, loadPlan, loadPlanAnswer, loadSpec, loadTask, markAttempt, markFollowed, noteImageDigest, openFindings, recordAgent,
  saveArtifact, saveEvaluation, saveGateResult, savePlanAnswer, saveMergerAttempt, saveReview, startAttempt, takeNotices,
} from '../store/index.ts'; // prettier-ignore
import type { Db } from '../store/index.ts';
import type { BaselineRecord } from '../spec/gate/baseline.ts';
import type { TaskSpec } from '../spec/model.ts';
import type { AttemptStore } from './attempt-ports.ts';

/** Artifact of the run itself that holds what was red before the first task. */
const BASELINE = 'baseline.json';

export class UnknownTask extends Error {
  override readonly name = 'UnknownTask';
}

export function attemptStore(db: Db): AttemptStore {
  const task = async (run: string, id: string): Promise<TaskSpec> => {
    const found = await loadTask(db, run, id);
    if (found === null) throw new UnknownTask(`The run "${run}" has no task "${id}".`);
    return found.spec;
  };
  return {
    spec: (run) => loadSpec(db, run),
    task,
    tasks: async (run) => {
      const rows = await listTasks(db, run);
      return Promise.all(rows.map((row) => task(run, row.id)));
    },
    agentResult: (key) => loadAgentResult(db, key),
    startAttempt: (key, start) => startAttempt(db, key, start),
    recordAgent: (key, result, ms) => recordAgent(db, key, result, ms),
    markAttempt: (key, change) => markAttempt(db, key, change),
    endAttempt: (key, end) => endAttempt(db, key, end),
    lastFailure: (run, id, mergerOf) => lastFailure(db, run, id, mergerOf),
    saveMergerAttempt: (key, about) => saveMergerAttempt(db, key, about),
    takeNotices: (run, id) => takeNotices(db, run, id),
    decisions: (run) => listDecisions(db, run),
    note: (run, entry) => addLogEntry(db, { run, ...entry }),
    plan: (run) => loadPlan(db, run),
    planAnswer: (run, node, attempt) => loadPlanAnswer(db, run, node, attempt),
    savePlanAnswer: (run, said) => savePlanAnswer(db, run, said),
    workLog: (run, which) => listLogEntries(db, run, which),
    saveArtifact: (name, content) => saveArtifact(db, name, content),
    artifact: async (name) => (await loadArtifact(db, name))?.content ?? null,
    reviews: (key) => listReviews(db, key),
    saveReview: (key, review) => saveReview(db, key, review),
    openFindings: (key) => openFindings(db, key),
    markFollowed: (run, id, followed) => markFollowed(db, run, id, followed),
    gateResult: (run, key, level, commit) => loadGateResult(db, run, key, level, commit),
    saveGateResult: (ref, result, extras) => saveGateResult(db, ref, result, extras),
    evaluations: (run) => listEvaluations(db, run),
    saveEvaluation: (run, evaluation) => saveEvaluation(db, run, evaluation),
    baseline: async (run) => {
      const artifact = await loadArtifact(db, { run, task: null, attempt: 0, name: BASELINE });
      return artifact === null ? null : (JSON.parse(artifact.content) as BaselineRecord);
    },
    noteImage: (run, digest) => noteImageDigest(db, run, digest),
    saveBaseline: (run, record) =>
      saveArtifact(db, { run, task: null, attempt: 0, name: BASELINE }, JSON.stringify(record)),
  };
}
