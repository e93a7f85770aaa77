// What the program has now of the commissions that were asked for before, as far as the mirror knows: a request that
// ended well says nothing about what was changed after it.

import { sql } from 'kysely';
import type { Action, UpdateState } from '../../contract/payment-request.ts';
import { spellTimestamp, spellToTheSecond, type Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { matchTimestamp } from '../timestamps.ts';
import { GOOD_STATES } from '../update-request.ts';

/** All values are null of a commission that is deleted. */
export interface Latest {
  readonly paid_at: Timestamp | null;
  readonly due_at: Timestamp | null;
  /** As the program counts. */
  readonly amount: number | null;
  readonly currency: string | null;
  /** In words, what became of it after the request had its way; null where the program has it as that left it. */
  readonly since: string | null;
}

/** What a line of the payment ledger says of its request. */
export interface AskedLine extends Omit<Latest, 'paid_at' | 'due_at' | 'since'> {
  readonly request: number;
  readonly action: Action;
  readonly state: UpdateState;
  readonly paid_at_after: Timestamp | null;
  readonly due_at_after: Timestamp | null;
}

interface MirroredRow extends Omit<Latest, 'since'> {
  readonly request: number;
  readonly is_deleted: boolean;
  readonly seen_at: Timestamp;
}

/**
 * Returns for the request of each line what the mirror has of its commission; what the line itself says where its
 * request has read the commission and the mirror has nothing of it that is newer than the request, such as where it
 * could not take over the payment.
 */
export async function readLatest(
  db: Database,
  lines: readonly AskedLine[],
): Promise<ReadonlyMap<number, Latest>> {
  if (lines.length === 0) return new Map();
  const { rows } = await sql<MirroredRow>`
    select request.id as request,
           mirrored.paid_at, mirrored.due_at, mirrored.amount, mirrored.currency,
           mirrored._deleted_at is not null as is_deleted,
           coalesce(mirrored._deleted_at, mirrored._observed_at) as seen_at
    from commission_updates request
    join commissions mirrored on mirrored.id = request.commission_id
    where request.id = any(${lines.map(({ request }) => request)}::bigint[])
      and (
        coalesce(mirrored._deleted_at, mirrored._observed_at) >= coalesce(request.put_sent_at, request.requested_at)
        -- It has not read the commission: whatever the mirror has is more than its line says.
        or request.before is null and request.after is null
      )
  `.execute(db);
  const mirrored = new Map(rows.map((row) => [row.request, row]));
  return new Map(lines.map((line) => [line.request, latestOf(line, mirrored.get(line.request))]));
}

function latestOf(line: AskedLine, mirrored: MirroredRow | undefined): Latest {
  if (mirrored === undefined) {
    const { paid_at_after: paid_at, due_at_after: due_at, amount, currency } = line;
    return { paid_at, due_at, amount, currency, since: null };
  }
  const { paid_at, due_at, amount, currency, is_deleted } = mirrored;
  const since = GOOD_STATES.includes(line.state) ? describeSince(line, mirrored) : null;
  // What is deleted keeps its last values in the mirror, which the program has no more.
  if (is_deleted) return { paid_at: null, due_at: null, amount: null, currency: null, since };
  return { paid_at, due_at, amount, currency, since };
}

function describeSince(line: AskedLine, mirrored: MirroredRow): string | null {
  const { paid_at, due_at, is_deleted, seen_at } = mirrored;
  const seen = spellToTheSecond(Date.parse(seen_at));
  if (is_deleted) return `since then it was deleted: the program did not have it any more at ${seen}`;
  if (line.action === 'due') {
    if (isSame(line.due_at_after, due_at)) return null;
    const has = due_at === null ? 'without a due date' : `payable from ${spellTimestamp(due_at)}`;
    return `since then it was changed: at ${seen} the program had it ${has}`;
  }
  if (isSame(line.paid_at_after, paid_at)) return null;
  if (paid_at === null) return `since then it was taken back: the program had it unpaid at ${seen}`;
  const change = line.action === 'unpay' ? 'paid' : 'changed';
  return `since then it was ${change}: at ${seen} the program had it paid at ${spellTimestamp(paid_at)}`;
}

function isSame(left: Timestamp | null, has: Timestamp | null): boolean {
  return left === null ? has === null : matchTimestamp(left, has) !== 'different';
}
