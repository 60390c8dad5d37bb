/** Table `artifacts`: outputs and logs, at most 1 MiB each (the first and last half of what is longer). */
import { fromRow } from './db.ts';
import type { Db } from './db.ts';
import { cap, clean } from './text.ts';

/** task null (and attempt 0): of the run itself; its names should then tell the commits apart. */
export interface ArtifactKey {
  readonly run: string;
  readonly task: string | null;
  readonly attempt: number;
  /** `agent.log`, `gate.test.log`, … */
  readonly name: string;
}

export interface ArtifactInfo {
  readonly name: string;
  /** Size of the whole. */
  readonly bytes: number;
  readonly truncated: boolean;
  readonly createdAtMs: number;
}
export interface Artifact extends ArtifactInfo {
  readonly content: string;
}

/** Written again it replaces what was there. */
export async function saveArtifact(
  db: Db,
  key: ArtifactKey,
  content: string | Buffer,
  /** Where the caller has cut the content already: the size of the whole. */
  whole?: { readonly bytes: number },
): Promise<void> {
  const kept = cap(content);
  const bytes = Math.max(whole?.bytes ?? 0, kept.bytes);
  await db.query(
    `insert into artifacts (run, task, attempt, name, content, bytes, truncated) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (run, task, attempt, name) do update set
       content = excluded.content, bytes = excluded.bytes, truncated = excluded.truncated`,
    [key.run, key.task ?? '', key.attempt, clean(key.name), kept.text, bytes, kept.truncated || bytes > kept.bytes],
  );
}

export async function loadArtifact(db: Db, key: ArtifactKey): Promise<Artifact | null> {
  const { rows } = await db.query(
    `select name, content, bytes, truncated, created_at from artifacts
     where run = $1 and task = $2 and attempt = $3 and name = $4`,
    [key.run, key.task ?? '', key.attempt, clean(key.name)],
  );
  return rows[0] === undefined ? null : fromRow<Artifact>(rows[0]);
}

/** Without their contents, oldest first. */
export async function listArtifacts(
  db: Db,
  run: string,
  task: string | null,
  attempt: number,
): Promise<ArtifactInfo[]> {
  const { rows } = await db.query(
    `select name, bytes, truncated, created_at from artifacts
     where run = $1 and task = $2 and attempt = $3 order by created_at, name`,
    [run, task ?? '', attempt],
  );
  return rows.map((row) => fromRow<ArtifactInfo>(row));
}
