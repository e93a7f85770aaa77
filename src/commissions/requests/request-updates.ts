// Asks for commission updates, or looks ahead to what asking would answer. The rules are those of ask_for_updates.

import { sql } from 'kysely';
import type { Action, UpdateState } from '../../contract/payment-request.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { asDatabaseError } from '../../db/as-database-error.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { DatabaseUnreachable } from '../../errors.ts';
import type { UpdateRequest } from '../update-request.ts';
import { takeTurn } from './take-turn.ts';

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

/** A request, and what else answers it. */
export interface AskedUpdate extends UpdateRequest {
  /** True: without a key, a request that waits for the same answers it. */
  readonly unless_waiting?: boolean;
  /** The number of a request that does the same. */
  readonly same_as?: number | null;
}

/** What answers a row. */
export interface Answer {
  readonly answer: 'new' | 'asked already' | 'waits' | 'overtaken' | 'key taken';
  /** The request that this is about; null where the row is new, and nothing is asked for. */
  readonly id: number | null;
  readonly isNew: boolean;
  readonly state: UpdateState;
  readonly outcome: string | null;
  /** A later request for the same value of the commission: what the old request set may be gone. */
  readonly overtaken_by: number | null;
  /** These two are null where the row is new. */
  readonly action: Action | null;
  readonly commission_id: string | null;
  /** A request that waits for the same value of the commission, and is applied before the new one. */
  readonly behind: number | null;
  readonly behind_action: Action | null;
  /** What it asks for; null where that is no timestamp. */
  readonly behind_at: Timestamp | null;
}

export interface RequestedUpdate extends Answer {
  readonly id: number;
}

/**
 * Asks for all of the requests or for none, and returns what answers each, in the order of the input.
 *
 * Throws: Busy where another transaction has asked for updates and does not end; the table's own refusals
 * (DatabaseError with a message and a hint); DatabaseUnreachable, which says so where they may have been written all
 * the same; the signal's reason when aborted, and then nothing was written.
 * Idempotent: for requests with an idempotency key; the others are made anew each time, or wait (`unless_waiting`).
 */
export async function requestUpdates(
  deps: { db: Database },
  requests: readonly AskedUpdate[],
  options: RequestOptions,
): Promise<RequestedUpdate[]> {
  const { batchId, signal } = options;
  let isWritten = false;
  return transact(deps.db, async (trx) => {
    isWritten = false;
    await takeTurn(deps.db, trx, signal);
    const requested = await answer<RequestedUpdate>(trx, requests, { ...options, isDryRun: false });
    signal?.throwIfAborted();
    isWritten = true;
    return requested;
  }).catch((error: unknown) => {
    const known = asDatabaseError(error);
    throw isWritten && known instanceof DatabaseUnreachable
      ? new DatabaseUnreachable(maybeQueued(batchId), { cause: known })
      : error;
  });
}

function maybeQueued(batchId: string | null): string {
  const which =
    batchId === null
      ? ''
      : ` as ${batchId}: "affiliate-mirror commissions status ${batchId}" says so once it is back`;
  return `the connection to the database was lost while the requests were committed, so they may be queued${which}`;
}

/** Returns what would answer each of the requests now, in the order of the input. Asks for nothing. */
export async function foreseeAnswers(db: Database, requests: readonly AskedUpdate[]): Promise<Answer[]> {
  // Without a row, a command does not wait for the table.
  if (requests.length === 0) return [];
  return await answer<Answer>(db, requests, { batchId: null, requestedBy: null, isDryRun: true });
}

async function answer<Row extends Answer>(
  db: Database | DatabaseTransaction,
  requests: readonly AskedUpdate[],
  { batchId, requestedBy, isDryRun }: RequestOptions & { isDryRun: boolean },
): Promise<Row[]> {
  // This statement does not see the requests that it makes.
  const { rows } = await sql<Row>`
    select asked.answer, asked.request as id, asked.answer = 'new' as "isNew",
           coalesce(earlier.state, 'pending') as state, earlier.outcome, asked.overtaken_by,
           earlier.action, earlier.commission_id,
           asked.behind, waiting.action as behind_action, coalesce(waiting.paid_at, waiting.due_at) as behind_at
    from ask_for_updates(${JSON.stringify(requests)}::jsonb, ${batchId}, ${requestedBy}, ${isDryRun}) asked
    left join commission_updates earlier on earlier.id = asked.request
    left join commission_updates waiting on waiting.id = asked.behind
    order by asked.place
  `.execute(db);
  return rows;
}
