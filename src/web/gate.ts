// Lets a bounded number of pages read at once: however many are open, the worker keeps its connections.

import { NoAnswer } from '../within.ts';

/** Runs the work when its turn has come, and returns what it returns. Throws: NoAnswer where that was too late. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Returns a gate for `most` at once; the others wait in their order. Work whose turn comes after `patienceMs` is
 * dropped: nobody waits for it any more, and reading it would delay the others.
 */
export function makeGate(most: number, patienceMs: number): Gate {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    const beganMs = performance.now();
    if (inside < most) inside += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      if (performance.now() - beganMs >= patienceMs) throw new NoAnswer(`no turn within ${patienceMs} ms`);
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) inside -= 1;
      else next();
    }
  };
}
