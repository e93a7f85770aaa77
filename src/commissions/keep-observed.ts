// Keeps what was observed of a commission as far as the database takes it. The program's answer is a fact whether or
// not the mirror can hold it: what cannot be mirrored goes to rejected_records with the reason.
//
// Decision: a refused write is repeated with less in it, in a transaction of its own, instead of behind a savepoint.
// A savepoint would cost every settlement two round trips, would not catch a constraint that is checked at the commit,
// and would leave several loads in one transaction, which may then deadlock with other loads.

import type { DatabaseTransaction } from '../db/database.ts';
import { isRefusal, nameRefusal } from '../db/refusal.ts';
import type { GoneCommission } from '../mirror/gone-sales.ts';
import type { Treatment } from '../records/treatment.ts';
import {
  markCommissionsDeleted,
  mirrorCommissions,
  type ObservedCommission,
  rejectCommission,
} from './mirror-commissions.ts';

/** How much of what was observed is written. `reason`: why not more. */
export type Keeping =
  | { readonly as: 'mirrored' }
  | { readonly as: (typeof LESS)[number]; readonly reason: string };

/** Each is tried where the one before is refused: a record nested too deeply cannot be a payload either. */
const LESS = ['rejected', 'rejected in short', 'nothing'] as const;

export const MIRRORED: Keeping = { as: 'mirrored' };

/** What was observed together: commissions as they were answered, and those that the program does not have. */
export interface Observations {
  readonly observed: readonly ObservedCommission[];
  readonly gone: readonly GoneCommission[];
}

/**
 * Writes the observations as far as `keeping` says.
 *
 * Throws: what `mirrorCommissions` and `rejectCommission` throw.
 */
export async function keepObserved(
  trx: DatabaseTransaction,
  { observed, gone }: Observations,
  keeping: Keeping,
  treatment?: Treatment,
): Promise<void> {
  if (keeping.as === 'nothing') return;
  if (keeping.as === 'mirrored') {
    await mirrorCommissions(trx, observed, treatment);
    await markCommissionsDeleted(trx, gone);
    return;
  }
  const isWhole = keeping.as === 'rejected';
  const { reason } = keeping;
  for (const one of observed) await rejectCommission(trx, one, { reason, isWhole }, treatment);
}

/**
 * Returns what `write` returns for the most that the database takes. `write` is one transaction that carries a single
 * observation.
 *
 * Throws: the refusal, where even the write without the observation is refused; at once every error that is no
 * refusal.
 */
export async function writeWhatCanBeKept<T>(write: (keeping: Keeping) => Promise<T>): Promise<T> {
  let refusal: unknown;
  try {
    return await write(MIRRORED);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    refusal = error;
  }
  const reason = `the database refused it (${nameRefusal(refusal)})`;
  for (const as of LESS) {
    try {
      return await write({ as, reason });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}
