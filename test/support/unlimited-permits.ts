// A budget that grants every permit at once, by this machine's clock, and remembers how each was returned.

import type { AnsweredLimits, TakePermit } from '../../src/api/permit.ts';

export interface UnlimitedPermits {
  readonly takePermit: TakePermit;
  /** How many permits were granted. */
  readonly granted: () => number;
  /** What each permit was returned with after its request, in order. */
  readonly returned: readonly (AnsweredLimits | null)[];
  /** How many were returned unused. */
  readonly unused: () => number;
}

/** Returns such a budget. A permit that is returned twice throws. */
export function makeUnlimitedPermits(): UnlimitedPermits {
  const returned: (AnsweredLimits | null)[] = [];
  let granted = 0;
  let unused = 0;
  return {
    granted: () => granted,
    returned,
    unused: () => unused,
    takePermit: async (signal) => {
      signal?.throwIfAborted();
      granted += 1;
      let isReturned = false;
      const markReturned = () => {
        if (isReturned) throw new Error('a permit was returned twice');
        isReturned = true;
      };
      return {
        grantedAt: new Date().toISOString(),
        isUsable: () => true,
        async returnAnswered(limits) {
          markReturned();
          returned.push(limits);
          return new Date().toISOString();
        },
        async returnUnused() {
          markReturned();
          unused += 1;
        },
      };
    },
  };
}
