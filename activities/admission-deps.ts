/** What admission needs: of specs, of tasks, of answers to agents. */
import type { Hub } from '../mainline/hub.ts';
import type { CredentialEnv } from '../mainline/remote.ts';
import type { PriceTable } from '../spec/prices.ts';
import type { Pool } from '../store/index.ts';

export interface AdmissionDeps {
  readonly db: Pool;
  /** Of models, the user's first. */
  readonly prices: readonly PriceTable[];
  readonly hubRoot: string;
  /** The hub of a run that is open here, under its lock. */
  hub(run: string): Promise<Hub>;
  /** Environment that opens the origin; throws RepositoryError when there is no credential of that name. */
  credential(name: string | null, url: string | null): Promise<CredentialEnv | null>;
}
