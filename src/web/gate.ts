// Lets a bounded number of pages read at once: however many are open, the worker keeps its connections.

import { NoAnswer } from '../within.ts';

/** Runs the work when its turn has come, and returns what it returns. Throws: NoAnswer where its turn does not come. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Returns a gate for `most` at once; the others wait in their order, for `patienceMs`. Work whose turn did not come in
 * time is dropped; reading it would delay the others.
 */
export function makeGate(most: number, patienceMs: number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();
  const turn = () =>
    new Promise<void>((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        waiting.delete(enter);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(enter);
        reject(new NoAnswer(`no turn within ${patienceMs} ms`));
      }, patienceMs);
      waiting.add(enter);
    });
  return async (work) => {
    if (inside < most) inside += 1;
    else await turn();
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next === undefined) inside -= 1;
      else next();
    }
  };
}
