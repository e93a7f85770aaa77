// The order in which programs get the connections of their shared pool: each at most its share, and in turn, so that
// one whose statements wait for a lock cannot hold up the others.

export interface Turns<Slot> {
  /** Resolves with a free slot, picked among those that are free, once it is the taker's turn. */
  take(taker: string, most: number, pick: (free: readonly Slot[]) => Slot): Promise<Slot>;
  giveBack(taker: string, slot: Slot): void;
  hasFree(): boolean;
}

interface Waiting<Slot> {
  readonly most: number;
  readonly pick: (free: readonly Slot[]) => Slot;
  readonly resolve: (slot: Slot) => void;
}

/** Returns the turns of these slots, all of them free. */
export function makeTurns<Slot>(slots: readonly Slot[]): Turns<Slot> {
  const free = new Set(slots);
  const taken = new Map<string, number>();
  // Takers in the order of their turns, each with those of its calls that wait.
  const waiting = new Map<string, Waiting<Slot>[]>();

  const serve = () => {
    for (const [taker, calls] of [...waiting]) {
      const [next] = calls;
      if (free.size === 0) return;
      if (next === undefined || count(taker) >= next.most) continue;
      calls.shift();
      // Behind those that wait.
      waiting.delete(taker);
      if (calls.length > 0) waiting.set(taker, calls);
      const slot = next.pick([...free]);
      free.delete(slot);
      taken.set(taker, count(taker) + 1);
      next.resolve(slot);
    }
  };
  const count = (taker: string) => taken.get(taker) ?? 0;
  return {
    take(taker, most, pick) {
      const { promise, resolve } = Promise.withResolvers<Slot>();
      const calls = waiting.get(taker) ?? [];
      calls.push({ most, pick, resolve });
      waiting.set(taker, calls);
      serve();
      return promise;
    },
    giveBack(taker, slot) {
      free.add(slot);
      const left = count(taker) - 1;
      if (left === 0) taken.delete(taker);
      else taken.set(taker, left);
      serve();
    },
    hasFree: () => free.size > 0,
  };
}
