// What a rate limit makes of requests, and requests of a rate limit: by when each of them came to the program.

/** Returns how long the limit makes so many requests take, from the first to the last, at the least. */
export function leastSeconds(requests: number, rateLimit: string): number {
  // The first window's go at once, and each later window's when the one before has passed.
  const { perWindow, seconds } = readLimit(rateLimit);
  return Math.floor((requests - 1) / perWindow) * seconds;
}

/**
 * Returns the least time that the limit allows until the last window begins, beside the time that it took: never above
 * 100, unless the limit was not kept. The requests of that window are left out: what they take, no limit makes them.
 *
 * Units: arrivals in milliseconds; percent.
 */
export function shareOfLimit(arrivals: readonly number[], rateLimit: string): number {
  const { perWindow } = readLimit(rateLimit);
  const windows = Math.floor((arrivals.length - 1) / perWindow);
  const tookMs = (arrivals[windows * perWindow] ?? Number.NaN) - (arrivals[0] ?? Number.NaN);
  return (100 * leastSeconds(arrivals.length, rateLimit)) / (tookMs / 1000);
}

/** Returns how many of the requests a program would refuse that lets so many through in any such span of time. */
export function countRefused(arrivals: readonly number[], rateLimit: string): number {
  const { perWindow, seconds } = readLimit(rateLimit);
  const accepted: number[] = [];
  for (const arrival of arrivals) {
    const earlier = accepted.at(-perWindow) ?? Number.NEGATIVE_INFINITY;
    if (arrival - earlier >= seconds * 1000) accepted.push(arrival);
  }
  return arrivals.length - accepted.length;
}

function readLimit(rateLimit: string): { perWindow: number; seconds: number } {
  const [perWindow = 1, seconds = 1] = rateLimit.split('/').map(Number);
  return { perWindow, seconds };
}
