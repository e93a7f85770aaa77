// Memoizes what takes long to read: callers share one reading at a time, and its result for a while.

/** A result that took less than this is read anew each time. */
const QUICK_MS = 50;
/** Reading then takes one percent of the time at most, however many callers there are. */
const TIMES_AS_LONG = 100;

/** Returns how long a result is kept, in milliseconds: 100 times as long as reading it took; not at all if quick. */
export function inProportion(tookMs: number): number {
  return tookMs < QUICK_MS ? 0 : tookMs * TIMES_AS_LONG;
}

/**
 * Returns the function memoized. `keepFor` returns for how many milliseconds a result is kept, given how many reading
 * it took. For as long again, the former result is returned while the next one is read: a caller does not wait for what
 * another one asked for a moment ago. A failure is thrown to the callers that wait for it. Neither it nor the former
 * result is kept.
 */
export function memoize<Result>(
  read: () => Promise<Result>,
  keepFor: (tookMs: number) => number = inProportion,
): () => Promise<Result> {
  // In milliseconds of performance.now(), which no wrong clock moves.
  let last: { readonly result: Result; readonly freshUntil: number; readonly usableUntil: number } | null =
    null;
  let reading: Promise<Result> | null = null;
  const readAnew = async (): Promise<Result> => {
    const began = performance.now();
    try {
      const result = await read();
      const ended = performance.now();
      const keptMs = keepFor(ended - began);
      last = { result, freshUntil: ended + keptMs, usableUntil: ended + 2 * keptMs };
      return result;
    } catch (error) {
      last = null;
      throw error;
    }
  };
  return async () => {
    const now = performance.now();
    if (last !== null && now < last.freshUntil) return last.result;
    reading ??= readAnew().finally(() => {
      reading = null;
    });
    if (last === null || now >= last.usableUntil) return await reading;
    // The next caller reads again, and gets the error if that fails too.
    reading.catch(() => {});
    return last.result;
  };
}
