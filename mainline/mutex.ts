/**
 * One operation at a time per hub in this process, in the order in which they were asked for. Between processes the mainline
 * worker's lock in the store decides; a writer that slips past it still loses the compare-and-swap.
 */
const tails = new Map<string, Promise<void>>();

export async function serialised<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(key) ?? Promise.resolve();
  const result = before.then(work);
  const settled = result.then(
    () => undefined,
    () => undefined,
  );
  tails.set(key, settled);
  try {
    return await result;
  } finally {
    if (tails.get(key) === settled) tails.delete(key);
  }
}
