// Asks for commission updates, or foresees the answers. The rules are those of the SQL function ask_for_updates.

import { sql } from 'kysely';
import type { Action, UpdateState } from '../../contract/payment-request.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import type { PayoutRequest } from '../payout-request.ts';
import type { UpdateRequest } from '../update-request.ts';
import { lockAsking } from './asking-lock.ts';

/** Notified whenever requests wait; the payload is the schema. The trigger of commission_updates uses the name too. */
export const COMMISSION_UPDATES_CHANNEL = 'affiliate_mirror_commission_updates';

export interface RequestOptions {
  /** Null: the requests belong to no batch. */
  readonly batchId: string | null;
  /** Null: the database user. */
  readonly requestedBy: string | null;
  /** Aborted before the requests are committed, it queues none of them. */
  readonly signal?: AbortSignal;
}

/** A request, and the requests that may answer it. */
export interface AskedUpdate extends UpdateRequest {
  /** True: without a key, a request that waits for the same answers it. */
  readonly unless_waiting?: boolean;
  /** The number of a request that does the same. */
  readonly same_as?: number | null;
}

/** The same for a payout. */
export type AskedPayout = PayoutRequest & Pick<AskedUpdate, 'unless_waiting'>;

export interface Answer {
  readonly answer: 'new' | 'asked already' | 'waits' | 'overtaken' | 'key taken';
  /** The request that answers the row; null in a dry run of a new row. */
  readonly id: number | null;
  readonly isNew: boolean;
  readonly state: UpdateState;
  readonly outcome: string | null;
  /** A later request for the same value of the commission, which may have changed it since. */
  readonly overtaken_by: number | null;
  readonly overtaken_action: Action | null;
  readonly overtaken_state: UpdateState | null;
  /** These three are null if the row is new, and one of the identifiers otherwise. */
  readonly action: Action | null;
  readonly commission_id: string | null;
  readonly payout_id: string | null;
  /** A request that waits for the same value of the commission, and is applied before the new one. */
  readonly behind: number | null;
  readonly behind_action: Action | null;
  /** Its timestamp; null if it has none. */
  readonly behind_at: Timestamp | null;
}

export interface RequestedUpdate extends Answer {
  readonly id: number;
}

/**
 * Asks for all of the requests or for none, and returns the answers, in the order of the input.
 *
 * Throws: Busy if another transaction has asked for updates and does not end; the table's own refusals (DatabaseError
 * with a message and a hint); DatabaseUnreachable, and then the requests may have been written all the same; the
 * signal's reason when aborted, and then nothing was written.
 * Idempotent: for requests with an idempotency key; the others are made anew each time, or wait (`unless_waiting`).
 */
export async function requestUpdates(
  deps: { db: Database },
  requests: readonly (AskedUpdate | AskedPayout)[],
  options: RequestOptions,
): Promise<RequestedUpdate[]> {
  const { signal } = options;
  return transact(deps.db, async (trx) => {
    await lockAsking(trx, signal);
    const requested = await answer<RequestedUpdate>(trx, requests, { ...options, isDryRun: false });
    signal?.throwIfAborted();
    return requested;
  });
}

/** Returns the answers that the requests would get now, in the order of the input. Asks for nothing. */
export async function foreseeAnswers(
  db: Database,
  requests: readonly (AskedUpdate | AskedPayout)[],
): Promise<Answer[]> {
  // Without a row, a command does not wait for the table.
  if (requests.length === 0) return [];
  return await answer<Answer>(db, requests, { batchId: null, requestedBy: null, isDryRun: true });
}

async function answer<Row extends Answer>(
  db: Database | DatabaseTransaction,
  requests: readonly (AskedUpdate | AskedPayout)[],
  { batchId, requestedBy, isDryRun }: RequestOptions & { isDryRun: boolean },
): Promise<Row[]> {
  // This statement does not see the requests that it makes.
  const { rows } = await sql<Row>`
    select asked.answer, asked.request as id, asked.answer = 'new' as "isNew",
           coalesce(earlier.state, 'pending') as state, earlier.outcome, asked.overtaken_by,
           later.action as overtaken_action, later.state as overtaken_state, earlier.action, earlier.commission_id,
           earlier.payout_id,
           asked.behind, waiting.action as behind_action, coalesce(waiting.paid_at, waiting.due_at) as behind_at
    from ask_for_updates(${JSON.stringify(requests)}::jsonb, ${batchId}, ${requestedBy}, ${isDryRun}) asked
    left join commission_updates earlier on earlier.id = asked.request
    left join commission_updates later on later.id = asked.overtaken_by
    left join commission_updates waiting on waiting.id = asked.behind
    order by asked.place
  `.execute(db);
  return rows;
}
