// Reads many commissions for whoever reports on each of them: one that the program cannot show is an answer among the
// others, as it is to the writer, and costs nobody else's.

import type { ApiClient } from '../api/client.ts';
import type { Database } from '../db/database.ts';
import { ApiUnavailable, ApiUnreachable, ContractViolation } from '../errors.ts';
import type { Ending } from './judge-update.ts';
import { type LookedUp, lookUp } from './look-up.ts';
import { makeProgramHealth } from './program-health.ts';

/** How a request would end for which the commission cannot be read. */
export interface Unreadable extends Ending {
  readonly state: 'failed';
}

export type LookedUpEach = LookedUp | { readonly commission: null; readonly refusal: Unreadable };

/** What may be wrong with a single commission; the client has tried again and again by then. */
const OF_ONE = [ApiUnavailable, ApiUnreachable, ContractViolation];

/** So many in a row are no longer single ones: each takes the client's tries and their waits. */
const MOST_IN_A_ROW = 10;

/**
 * Returns the function that looks up one commission after the other, or several at once. Throws (from it): as lookUp,
 * but not where the program answers others.
 */
export function makeLookUpEach(
  { client, db }: { client: ApiClient; db: Database },
  signal: AbortSignal,
): (id: string) => Promise<LookedUpEach> {
  const health = makeProgramHealth({ client, db });
  let inARow = 0;
  return async (id) => {
    try {
      const found = await lookUp({ client, health }, id, signal);
      inARow = 0;
      return found;
    } catch (error) {
      inARow += 1;
      const isOfOne = OF_ONE.some((kind) => error instanceof kind) && inARow < MOST_IN_A_ROW;
      if (signal.aborted || !isOfOne || !(await health.isUp(signal))) throw error;
      const outcome = (error as Error).message;
      return { commission: null, refusal: { kind: 'end', state: 'failed', outcome, note: null } };
    }
  };
}
