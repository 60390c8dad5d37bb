/** The store's whole public surface. */
export * from './agents-words.ts';
export * from './artifacts.ts';
export * from './attempts.ts';
export { codeOf, connect, SQLSTATE } from './db.ts';
export type { ConnectOptions, Db, Pool } from './db.ts';
export * from './gate-results.ts';
export * from './gauges.ts';
export * from './green-points.ts';
export * from './hosts.ts';
export * from './locks.ts';
export * from './log-entries.ts';
export * from './merges.ts';
export { migrate, MigrationChanged, SchemaTooNew } from './migrate.ts';
export * from './model-calls.ts';
export * from './overview.ts';
export * from './runs.ts';
export * from './tasks.ts';
export { ARTIFACT_BYTES, cap } from './text.ts';
