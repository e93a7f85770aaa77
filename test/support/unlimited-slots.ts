// A budget that grants every slot at once, by this machine's clock, and remembers what it was told.

import type { AnsweredLimits, TakeSlot } from '../../src/api/slot.ts';

export interface UnlimitedSlots {
  readonly takeSlot: TakeSlot;
  /** How many slots were granted. */
  readonly granted: () => number;
  /** What each slot was given back with, in order. */
  readonly released: readonly (AnsweredLimits | null)[];
}

/** Gives back such a budget. A slot that is given back twice throws. */
export function makeUnlimitedSlots(): UnlimitedSlots {
  const released: (AnsweredLimits | null)[] = [];
  let granted = 0;
  return {
    granted: () => granted,
    released,
    takeSlot: async (signal) => {
      signal?.throwIfAborted();
      granted += 1;
      let isReleased = false;
      return {
        grantedAt: new Date().toISOString(),
        release: async (limits) => {
          if (isReleased) throw new Error('a slot was given back twice');
          isReleased = true;
          released.push(limits);
          return new Date().toISOString();
        },
      };
    },
  };
}
