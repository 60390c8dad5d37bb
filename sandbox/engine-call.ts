/**
 * Every call to the Docker engine goes through here.
 *
 * Invariants
 * 1. A call settles within its own timeout, whatever the engine or docker-modem does.
 * 2. An answer of the engine (a status code) and no answer at all are told apart by the code, never by a text.
 */
import { InfrastructureFault } from './faults.ts';
import { opaque } from './opaque.ts';

/** Milliseconds. create and start get long ones: at 2 × cores of them at once a start took 6 s (research: throughput table). */
export const CALL_MS = { quick: 10_000, create: 60_000, start: 120_000, remove: 20_000, pull: 900_000 } as const;

/** The HTTP status with which the engine answered, or null when it did not answer. */
export function statusOf(error: unknown): number | null {
  const code = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof code === 'number' ? code : null;
}

/** Runs one engine call. Rejects with the engine's own error when it answered, else with InfrastructureFault. */
export async function engineCall<T>(
  what: string,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new InfrastructureFault(`The Docker engine did not answer "${what}" within ${timeoutMs} ms.`));
      abort.abort();
    }, timeoutMs);
  });
  try {
    const answer = call(opaque(abort.signal, 'signal'));
    answer.catch(() => undefined); // it may reject long after the timeout won
    return await Promise.race([answer, late]);
  } catch (error) {
    if (error instanceof InfrastructureFault || statusOf(error) !== null) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new InfrastructureFault(`The Docker engine could not be reached for "${what}": ${reason}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** As engineCall, but an answer with one of these codes counts as done (304 started already, 404 gone, 409 not running). */
export async function engineDone(
  what: string,
  timeoutMs: number,
  fine: readonly number[],
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  try {
    await engineCall(what, timeoutMs, call);
  } catch (error) {
    const status = statusOf(error);
    if (status === null || !fine.includes(status)) throw error;
  }
}
