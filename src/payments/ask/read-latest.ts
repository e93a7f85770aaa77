// The values of commissions that were asked for before, by the mirror: a request that ended well says nothing about
// later changes.

import { sql } from 'kysely';
import type { Action, UpdateState } from '../../contract/payment-request.ts';
import { spellTimestamp, spellToTheSecond, type Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { matchTimestamp } from '../timestamps.ts';
import { GOOD_STATES } from '../update-request.ts';

/** All values of a deleted commission are null. */
export interface Latest {
  readonly paid_at: Timestamp | null;
  readonly due_at: Timestamp | null;
  /** In the API's unit. */
  readonly amount: number | null;
  readonly currency: string | null;
  /** The change since the request was applied, in words; null if there was none. */
  readonly since: string | null;
  /** The value that the request was for, in words; null if the mirror has nothing that is newer than the request. */
  readonly has: string | null;
}

interface LatestRow extends Omit<Latest, 'since' | 'has'> {
  readonly request: number;
  readonly action: Action;
  readonly state: UpdateState;
  readonly paid_at_after: Timestamp | null;
  readonly due_at_after: Timestamp | null;
  readonly is_deleted: boolean;
  /** When the mirror last saw the commission; null if it has nothing that is newer than the request. */
  readonly seen_at: Timestamp | null;
}

/**
 * Returns the mirror's values of each request's commission. If the request has read the commission and the mirror has
 * nothing newer (it could not store the payment, for example), the values of its line of the payment ledger.
 */
export async function readLatest(db: Database, ids: readonly number[]): Promise<ReadonlyMap<number, Latest>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<LatestRow>`
    select line.request, line.action, line.state, line.paid_at_after, line.due_at_after,
           mirrored._deleted_at is not null as is_deleted,
           coalesce(mirrored._deleted_at, mirrored._observed_at) as seen_at,
           case when mirrored.id is null then line.paid_at_after else mirrored.paid_at end as paid_at,
           case when mirrored.id is null then line.due_at_after else mirrored.due_at end as due_at,
           case when mirrored.id is null then line.amount else mirrored.amount end as amount,
           case when mirrored.id is null then line.currency else mirrored.currency end as currency
    from commission_ledger line
    join commission_updates request on request.id = line.request
    left join commissions mirrored on mirrored.id = request.commission_id
      and (
        coalesce(mirrored._deleted_at, mirrored._observed_at) >= coalesce(request.put_sent_at, request.requested_at)
        -- It has not read the commission: the mirror knows more than its line.
        or request.before is null and request.after is null
      )
    where request.id = any(${ids}::bigint[])
  `.execute(db);
  return new Map(rows.map((row) => [row.request, latestOf(row)]));
}

function latestOf(row: LatestRow): Latest {
  const since = GOOD_STATES.includes(row.state) ? describeSince(row) : null;
  const has = row.seen_at === null ? null : describeNow(row);
  // A deleted commission keeps its last values in the mirror.
  if (row.is_deleted) return { paid_at: null, due_at: null, amount: null, currency: null, since, has };
  const { paid_at, due_at, amount, currency } = row;
  return { paid_at, due_at, amount, currency, since, has };
}

function describeNow({ action, paid_at, due_at, is_deleted }: LatestRow): string {
  if (is_deleted) return 'deleted now';
  if (action !== 'due') return paid_at === null ? 'unpaid now' : `paid at ${spellTimestamp(paid_at)} now`;
  return due_at === null ? 'without a due date now' : `payable from ${spellTimestamp(due_at)} now`;
}

function describeSince(row: LatestRow): string | null {
  const { paid_at, due_at, is_deleted, seen_at } = row;
  if (seen_at === null) return null;
  const seen = spellToTheSecond(Date.parse(seen_at));
  if (is_deleted)
    return `since then it was deleted: the affiliate program did not have it any more at ${seen}`;
  if (row.action === 'due') {
    if (isSame(row.due_at_after, due_at)) return null;
    const has = due_at === null ? 'without a due date' : `payable from ${spellTimestamp(due_at)}`;
    return `since then it was changed: at ${seen} the affiliate program had it ${has}`;
  }
  if (isSame(row.paid_at_after, paid_at)) return null;
  if (paid_at === null) return `since then it was taken back: the affiliate program had it unpaid at ${seen}`;
  const change = row.action === 'unpay' ? 'paid' : 'changed';
  return `since then it was ${change}: at ${seen} the affiliate program had it paid at ${spellTimestamp(paid_at)}`;
}

function isSame(left: Timestamp | null, has: Timestamp | null): boolean {
  return left === null ? has === null : matchTimestamp(left, has) !== 'different';
}
