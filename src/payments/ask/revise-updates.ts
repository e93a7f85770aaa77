// Retries failed requests, and cancels pending ones.

import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { isSelected, type Selection } from '../select-requests.ts';
import { lockAsking } from './asking-lock.ts';
import { COMMISSION_UPDATES_CHANNEL } from './request-updates.ts';

export interface Revised {
  /** The requests that were changed. */
  readonly ids: readonly number[];
  /** The requests that could not be, each with the reason. */
  readonly left: readonly { readonly id: number; readonly reason: string }[];
}

/**
 * Makes the selected requests that ended as failed pending again, with all their tries. A request that a later one for
 * the same value has overtaken stays failed: applied now, it would undo the later one.
 *
 * Throws: Busy if another transaction has asked for updates and does not end; the signal's reason when aborted, and
 * then nothing was changed.
 */
export async function retryUpdates(
  db: Database,
  selection: Selection,
  signal?: AbortSignal,
): Promise<Revised> {
  return await transact(db, async (trx) => {
    // Otherwise a later one could be asked for and applied while the statement below, which sees the requests of its
    // beginning, still goes on.
    await lockAsking(trx, signal);
    const { rows } = await sql<{ id: number; later: number | null }>`
      with failed as (
        select id, overtaken_by(earlier) as later
        from commission_updates earlier
        where state = 'failed' and ${isSelected(selection)}
        order by id
        for no key update
      ), retried as (
        update commission_updates request
        set state = 'pending', outcome = null, finished_at = null, attempts = 0, next_attempt_at = clock_timestamp()
        from failed where failed.id = request.id and failed.later is null
      )
      select id, later from failed order by id
    `.execute(trx);
    const left = rows.flatMap(({ id, later }) =>
      later === null
        ? []
        : [{ id, reason: `request ${later} came later and asks otherwise: make a new request instead` }],
    );
    const ids = rows.filter(({ later }) => later === null).map(({ id }) => id);
    if (ids.length > 0) {
      await sql`select pg_notify(${COMMISSION_UPDATES_CHANNEL}, current_schema())`.execute(trx);
    }
    return { ids, left };
  });
}

const BUSY = 'it is being applied right now';
const MAY_HAVE_ARRIVED =
  'its change may have reached the affiliate program already, so a running worker or the next command with --wait carries it out. To undo it, make a new request, which is applied after this one';

/** Cancels the selected requests that wait. A request that is being applied, or may have arrived, stays. */
export async function cancelUpdates(
  db: Database,
  selection: Selection,
  cancelledBy: string,
): Promise<Revised> {
  return await transact(db, async (trx) => {
    const { rows } = await sql<{ id: number; reason: string | null }>`
      with waiting as (
        select id, case
                     when claimed_until > clock_timestamp() then ${BUSY}
                     when put_sent_at is not null then ${MAY_HAVE_ARRIVED}
                   end as reason
        from commission_updates
        where state = 'pending' and ${isSelected(selection)}
        order by id
        for no key update
      ), cancelled as (
        update commission_updates request
        set state = 'cancelled', outcome = ${`cancelled by ${cancelledBy} before anything was sent`},
            finished_at = clock_timestamp(), claimed_by = null, claimed_until = null
        from waiting where waiting.id = request.id and waiting.reason is null
      )
      select id, reason from waiting order by id
    `.execute(trx);
    const ids = rows.filter(({ reason }) => reason === null).map(({ id }) => id);
    const left = rows.flatMap(({ id, reason }) => (reason === null ? [] : [{ id, reason }]));
    return { ids, left };
  });
}
