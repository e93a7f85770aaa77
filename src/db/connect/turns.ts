// The order in which programs get the connections of their shared pool: each at most its share, and in turn, so that
// one whose statements wait for a lock cannot hold up the others.

/** Which slots suit a taker. */
export interface Choice<Slot> {
  /** The slot that it may take before its turn. */
  readonly home: Slot;
  /** Picks among those that are free. */
  readonly pick: (free: readonly Slot[]) => Slot;
}

export interface Turns<Slot> {
  /** Resolves with a free slot, once it is the taker's turn; no taker is overtaken twice by another. */
  take(taker: string, most: number, choice: Choice<Slot>): Promise<Slot>;
  giveBack(taker: string, slot: Slot): void;
  hasFree(): boolean;
}

interface Call<Slot> extends Choice<Slot> {
  readonly most: number;
  readonly resolve: (slot: Slot) => void;
}

/** A taker's place in the line, with those of its calls that wait. */
interface Place<Slot> {
  readonly taker: string;
  readonly calls: Call<Slot>[];
  /** Those who were served before it, though they came later: each of them once. */
  readonly overtakenBy: Set<string>;
}

/** Returns the turns of these slots, all of them free. */
export function makeTurns<Slot>(slots: readonly Slot[]): Turns<Slot> {
  const free = new Set(slots);
  const taken = new Map<string, number>();
  const count = (taker: string) => taken.get(taker) ?? 0;
  let line: readonly Place<Slot>[] = [];

  const serve = () => {
    for (let place = findNext(); place !== undefined; place = findNext()) {
      const { taker, calls } = place;
      const [call, ...others] = calls;
      if (call === undefined) throw new TypeError('a place without a call');
      for (const earlier of line.slice(0, line.indexOf(place))) earlier.overtakenBy.add(taker);
      // Behind those that wait.
      line = line.filter((other) => other !== place);
      if (others.length > 0) line = [...line, { taker, calls: others, overtakenBy: new Set() }];
      const slot = call.pick([...free]);
      free.delete(slot);
      taken.set(taker, count(taker) + 1);
      call.resolve(slot);
    }
  };
  const findNext = (): Place<Slot> | undefined => {
    if (free.size === 0) return undefined;
    const able = line.filter(({ taker, calls }) => count(taker) < (calls[0]?.most ?? 0));
    const [first] = able;
    const atHome = able.find(
      ({ taker, calls: [call] }) =>
        call !== undefined && free.has(call.home) && first?.overtakenBy.has(taker) === false,
    );
    return atHome ?? first;
  };
  return {
    take(taker, most, choice) {
      const { promise, resolve } = Promise.withResolvers<Slot>();
      const call = { ...choice, most, resolve };
      const place = line.find((other) => other.taker === taker);
      if (place === undefined) line = [...line, { taker, calls: [call], overtakenBy: new Set() }];
      else place.calls.push(call);
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
