// Memoizes slow reads: concurrent callers share one read, and later callers its result for a while.

/** A result that took less is read anew each time. */
const QUICK_MS = 50;
/** Reads then take one percent of the time at most, however many callers there are. */
const TIMES_AS_LONG = 100;

/** Returns for how many milliseconds a result is memoized: 100 times its reading time, 0 if that was quick. */
export function inProportion(tookMs: number): number {
  return tookMs < QUICK_MS ? 0 : tookMs * TIMES_AS_LONG;
}

/**
 * `freshMsOf` returns for how many milliseconds a result is fresh, given how many reading it took. For as long again,
 * the stale result is returned while the next one is read. A failure is thrown to the callers that wait for it; neither
 * it nor the stale result is memoized.
 */
export function memoize<Result>(
  read: () => Promise<Result>,
  freshMsOf: (tookMs: number) => number = inProportion,
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
      const freshMs = freshMsOf(ended - began);
      last = { result, freshUntil: ended + freshMs, usableUntil: ended + 2 * freshMs };
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
