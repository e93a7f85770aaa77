// Asks for commission updates: writes the requests, in order, in one transaction.

import { type RawBuilder, sql } from 'kysely';
import type { Action, UpdateState } from '../../contract/payment-request.ts';
import { asDatabaseError } from '../../db/as-database-error.ts';
import type { Database } from '../../db/database.ts';
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

/** One request as it is in the table. */
export interface RequestedUpdate {
  readonly id: number;
  /** False where the same request under the same key was made before. */
  readonly isNew: boolean;
  readonly state: UpdateState;
  readonly outcome: string | null;
  readonly batch_id: string | null;
  /** A later request for the same value of the commission: what the old request set may be gone. */
  readonly overtaken_by: number | null;
}

const ROWS_PER_STATEMENT = 1_000;

/**
 * Writes all of the requests or none, and returns them as they are in the payment ledger, in the order of the input.
 *
 * Throws: Busy where another transaction has asked for updates and does not end; the table's own refusals
 * (DatabaseError with a message and a hint); DatabaseUnreachable, which says so where they may have been written all
 * the same; the signal's reason when aborted, and then nothing was written.
 * Idempotent: for requests with an idempotency key; the others are made anew each time.
 */
export async function requestUpdates(
  deps: { db: Database },
  requests: readonly UpdateRequest[],
  options: RequestOptions,
): Promise<RequestedUpdate[]> {
  const { batchId, signal } = options;
  let isWritten = false;
  return transact(deps.db, async (trx) => {
    isWritten = false;
    const requested: RequestedUpdate[] = [];
    await takeTurn(deps.db, trx, signal);
    for (let at = 0; at < requests.length; at += ROWS_PER_STATEMENT) {
      const slice = requests
        .slice(at, at + ROWS_PER_STATEMENT)
        .map((request, index) => ({ ...request, place: at + index }));
      const { rows } = await insertAndRead(slice, options).execute(trx);
      requested.push(...rows);
      signal?.throwIfAborted();
    }
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

/** The request that has a key already. */
export interface EarlierRequest extends Pick<RequestedUpdate, 'id' | 'state' | 'outcome' | 'overtaken_by'> {
  readonly action: Action;
  readonly commission_id: string;
  /** Asked for the same thing: asking again does nothing. Otherwise the table refuses to be asked under this key. */
  readonly isSame: boolean;
}

/** Returns the earlier request of each key that has one. What is the same is the table's own rule. */
export async function findRequested(
  db: Database,
  requests: readonly UpdateRequest[],
): Promise<ReadonlyMap<string, EarlierRequest>> {
  const found = new Map<string, EarlierRequest>();
  for (let at = 0; at < requests.length; at += ROWS_PER_STATEMENT) {
    const slice = JSON.stringify(requests.slice(at, at + ROWS_PER_STATEMENT));
    const { rows } = await sql<EarlierRequest & { idempotency_key: string }>`
      select asked.idempotency_key, earlier.id, earlier.state, earlier.outcome, earlier.action,
             earlier.commission_id, ${OVERTAKEN_BY} as overtaken_by,
             is_same_request(earlier, asked) as "isSame"
      from jsonb_populate_recordset(null::commission_updates, ${slice}::jsonb) asked
      join commission_updates earlier on earlier.idempotency_key = ${keptKey(sql`asked.idempotency_key`)}
    `.execute(db);
    for (const { idempotency_key, ...earlier } of rows) found.set(idempotency_key, earlier);
  }
  return found;
}

/** In SQL, the key as the table keeps it (check_commission_update): null where it is blank. */
function keptKey(key: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`nullif(btrim(${key}, E' \\t\\r\\n'), '')`;
}

/** In SQL, the last request that came later than `earlier` for the same value of its commission, and has its way. */
export const OVERTAKEN_BY = sql<number | null>`(
  select max(later.id) from commission_updates later
  where later.commission_id = earlier.commission_id and later.id > earlier.id
    and (later.action = 'due') = (earlier.action = 'due')
    and later.state in ('pending', 'applied', 'unchanged')
)`;

function insertAndRead(slice: readonly (UpdateRequest & { place: number })[], options: RequestOptions) {
  // The requests without a key are all new, and come back in the order of their numbers.
  return sql<RequestedUpdate>`
    with input as materialized (
      select input.*, ${keptKey(sql`input.idempotency_key`)} as kept_key
      from jsonb_to_recordset(${JSON.stringify(slice)}::jsonb) as input (
        place integer, commission_id text, action text, paid_at timestamptz, due_at timestamptz,
        expected_unpaid boolean, expected_paid_at timestamptz, expected_amount bigint, expected_currency text,
        reason text, idempotency_key text, supersede boolean, even_if_refunded boolean
      )
    ), inserted as (
      insert into commission_updates (
        batch_id, commission_id, action, paid_at, due_at, expected_unpaid, expected_paid_at, expected_amount,
        expected_currency, reason, requested_by, idempotency_key, supersede, even_if_refunded
      )
      select ${options.batchId}, commission_id, action, paid_at, due_at, expected_unpaid, expected_paid_at,
             expected_amount, expected_currency, reason, coalesce(${options.requestedBy}::text, current_user),
             kept_key, supersede, even_if_refunded
      from input order by place
      returning id, state, batch_id, idempotency_key
    ), keyless_input as (
      select place, row_number() over (order by place) as turn from input where kept_key is null
    ), keyless as (
      select id, state, batch_id, row_number() over (order by id) as turn from inserted where idempotency_key is null
    )
    select coalesce(keyless.id, new.id, earlier.id) as id,
           earlier.id is null as "isNew",
           coalesce(keyless.state, new.state, earlier.state) as state,
           earlier.outcome,
           coalesce(keyless.batch_id, new.batch_id, earlier.batch_id) as batch_id,
           ${OVERTAKEN_BY} as overtaken_by
    from input
    left join keyless_input using (place)
    left join keyless using (turn)
    left join inserted new on new.idempotency_key = input.kept_key
    left join commission_updates earlier on earlier.idempotency_key = input.kept_key and new.id is null
    order by input.place
  `;
}
