// Bounds how many rounds run at once, without letting a few that hang hold up the others.

/** Runs the work once it is its turn, and returns its result. Throws: what the work throws. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns turns of which `most` are taken at once; one that takes longer than `countsForMs` counts no more. */
export function makeTurns(most: number, countsForMs: number): TakeTurn {
  const waiting: (() => void)[] = [];
  let active = 0;
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) active -= 1;
    else next();
  };
  return async (work) => {
    if (active < most) active += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let counts = true;
    const leaveOnce = () => {
      if (counts) leave();
      counts = false;
    };
    const timer = setTimeout(leaveOnce, countsForMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      leaveOnce();
    }
  };
}
