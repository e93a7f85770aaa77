// Lets a bounded number of pages read at once: however many are open, the worker keeps its connections.

/** Runs the work when its turn has come, and returns what it returns. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns a gate for so many at once; the others wait in their order. */
export function makeGate(most: number): Gate {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (inside < most) inside += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) inside -= 1;
      else next();
    }
  };
}
