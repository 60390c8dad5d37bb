/** Work that several wait for and that is done once; it goes on while anyone waits. */
interface Flight {
  readonly promise: Promise<void>;
  readonly abort: AbortController;
  waiting: number;
}

const flights = new Map<string, Flight>();

/** Joins the work of this name, or starts it. Rejects with the signal's reason when aborted; the last one to leave waits until the work has stopped. */
export async function shared(
  name: string,
  signal: AbortSignal | undefined,
  work: (all: AbortSignal) => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted();
  let flight = flights.get(name);
  if (flight === undefined) {
    const abort = new AbortController();
    const promise = work(abort.signal);
    flight = { promise, abort, waiting: 0 };
    flights.set(name, flight);
    const made = flight;
    const forget = (): void => {
      if (flights.get(name) === made) flights.delete(name);
    };
    promise.then(forget, forget);
  }
  const mine = flight;
  mine.waiting += 1;
  let left: () => void = () => undefined;
  const leave = new Promise<'left'>((resolve) => {
    left = () => resolve('left');
    signal?.addEventListener('abort', left, { once: true });
  });
  try {
    if ((await Promise.race([mine.promise, leave])) !== 'left') return;
    if (mine.waiting === 1) {
      if (flights.get(name) === mine) flights.delete(name); // whoever comes now starts anew
      mine.abort.abort(signal?.reason);
      await mine.promise.catch(() => undefined);
    }
    throw signal?.reason as Error;
  } finally {
    mine.waiting -= 1;
    signal?.removeEventListener('abort', left);
  }
}
