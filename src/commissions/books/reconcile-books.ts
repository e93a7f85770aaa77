// Compares the books (a file of payments) with what the program has now, and proposes fixes. Changes nothing.
//
// A proposal is always a payment that the books have and the program lacks or dates otherwise. A payment that only the
// program has is never taken back by a proposal: an empty cell is no instruction.

import { sql } from 'kysely';
import type { ApiClient } from '../../api/client.ts';
import type { Commission } from '../../contract/commission.ts';
import { spellTimestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import type { BooksEntry } from '../files/books-file.ts';
import { NOT_FOUND } from '../judge-update.ts';
import { type LookedUpEach, makeLookUpEach } from '../look-up-each.ts';
import { mapInOrder } from '../map-in-order.ts';
import { contentKey } from '../requests/content-key.ts';
import { matchTimestamp } from '../timestamps.ts';
import { plainRequest, type UpdateRequest } from '../update-request.ts';

/** Every finding with its meaning, in the order of the report. */
export const FINDINGS = {
  match: 'books and program agree',
  unpaid_upstream: 'paid in the books, unpaid in the program',
  not_in_books: 'paid in the program, unpaid or missing in the books',
  different_time: 'paid in both, at different times',
  different_amount: 'the amount or the currency differs',
  unknown: NOT_FOUND,
  refused: 'the program has others, but refuses to show this one',
  unreadable: 'the program answers for others, but not for this one',
} as const;

export type Finding = keyof typeof FINDINGS;

export interface ReconciledRow {
  /** In the file of the books; null for a commission that is not in it. */
  readonly line: number | null;
  readonly commission_id: string;
  readonly finding: Finding;
  readonly books_paid_at: string | null;
  readonly program_paid_at: string | null;
  readonly books_amount: number | null;
  readonly program_amount: number | null;
  readonly books_currency: string | null;
  readonly program_currency: string | null;
}

export interface CurrencyTotal {
  readonly currency: string;
  readonly finding: Finding;
  /** One that the books have in another currency than the program is in the line of each. */
  readonly commissions: number;
  /** Paid amounts, in the unit of commissions.amount. Books without amounts are taken at the program's. */
  readonly books_paid: bigint;
  readonly program_paid: bigint;
  readonly difference: bigint;
}

/**
 * Yields one row per commission, in the order of the books; then, with `withOthers`, those that the books lack:
 * commissions that the mirror knows as paid between the books' first and last payment, each read anew.
 *
 * Throws: what `makeLookUpEach` says; the database's errors.
 */
export async function* reconcileBooks(
  deps: { client: ApiClient; db: Database },
  books: readonly BooksEntry[],
  { withOthers, concurrency, signal }: { withOthers: boolean; concurrency: number; signal: AbortSignal },
): AsyncGenerator<ReconciledRow> {
  const { client, db } = deps;
  const read = makeLookUpEach({ client, db }, signal);
  yield* mapInOrder(books, concurrency, async (row) => compare(row, await read(row.commission_id)));
  if (!withOthers) return;
  const others = await findPaidElsewhere(db, books);
  for await (const row of mapInOrder(others, concurrency, async (id) => ({ id, found: await read(id) }))) {
    // Gone or unpaid by now: then the books are right not to have it.
    const { commission, refusal } = row.found;
    if (refusal?.state === 'not_found' || commission?.paid_at === null) continue;
    yield compare(
      { line: null, commission_id: row.id, paid_at: null, amount: null, currency: null },
      row.found,
    );
  }
}

/** The newest request for the payment of each commission that has ended. */
export type LastEnded = ReadonlyMap<string, number>;

/** Returns it for the commissions of the books. */
export async function readLastEnded(db: Database, books: readonly BooksEntry[]): Promise<LastEnded> {
  const { rows } = await sql<{ commission_id: string; last: number }>`
    select commission_id, max(id) as last from commission_updates
    where commission_id = any(${books.map(({ commission_id }) => commission_id)}::text[])
      and action in ('pay', 'unpay') and state <> 'pending'
    group by commission_id
  `.execute(db);
  return new Map(rows.map(({ commission_id, last }) => [commission_id, last]));
}

/**
 * Returns the requests that would make the program agree with the books, each only if nothing changes meanwhile.
 *
 * Proposed again while it waits, a request is the same one: a second would end as conflict. Once it has ended it is
 * another, since a payment that was taken back is proposed anew; so the key names the last that had ended before the
 * program was read. (The key of a payout file never forgets: there, --again asks anew.)
 */
export function proposeFixes(rows: readonly ReconciledRow[], lastEnded: LastEnded): UpdateRequest[] {
  return rows.flatMap((row) => {
    if (row.finding !== 'unpaid_upstream' && row.finding !== 'different_time') return [];
    const request = plainRequest({
      commission_id: row.commission_id,
      action: 'pay',
      paid_at: row.books_paid_at,
      expected_unpaid: row.program_paid_at === null,
      expected_paid_at: row.program_paid_at,
      expected_amount: row.program_amount,
      expected_currency: row.program_currency,
      reason: `reconciliation: ${FINDINGS[row.finding]}`,
    });
    const idempotency_key = `${contentKey(request)} after ${lastEnded.get(row.commission_id) ?? 0}`;
    return [{ ...request, idempotency_key }];
  });
}

/** Returns the sums by currency and finding, in the order of the report. */
export function totalsOf(rows: readonly ReconciledRow[]): CurrencyTotal[] {
  const totals = new Map<string, CurrencyTotal>();
  const add = (currency: string, finding: Finding, booksPaid: number, programPaid: number) => {
    const key = `${currency} ${finding}`;
    const before = totals.get(key) ?? EMPTY;
    const books_paid = before.books_paid + BigInt(booksPaid);
    const program_paid = before.program_paid + BigInt(programPaid);
    const commissions = before.commissions + 1;
    totals.set(key, {
      currency,
      finding,
      commissions,
      books_paid,
      program_paid,
      difference: program_paid - books_paid,
    });
  };
  for (const row of rows) {
    const amount = row.books_amount ?? row.program_amount ?? 0;
    const booksPaid = row.books_paid_at === null ? 0 : amount;
    const programPaid = row.program_paid_at === null ? 0 : (row.program_amount ?? 0);
    const currency = row.program_currency ?? row.books_currency ?? '?';
    // An amount that is the program's own is in its currency, whatever the books say.
    const booksCurrency = row.books_amount === null ? currency : (row.books_currency ?? currency);
    if (booksCurrency === currency) {
      add(currency, row.finding, booksPaid, programPaid);
    } else {
      add(currency, row.finding, 0, programPaid);
      add(booksCurrency, row.finding, booksPaid, 0);
    }
  }
  const order = Object.keys(FINDINGS);
  return [...totals.values()].sort(
    (a, b) => a.currency.localeCompare(b.currency) || order.indexOf(a.finding) - order.indexOf(b.finding),
  );
}

const EMPTY = { commissions: 0, books_paid: 0n, program_paid: 0n };

function compare(row: BooksEntry, { commission: live, refusal }: LookedUpEach): ReconciledRow {
  return {
    line: row.line,
    commission_id: row.commission_id,
    finding: live === null ? REFUSALS[refusal.state] : find(row, live),
    books_paid_at: row.paid_at,
    program_paid_at: typeof live?.paid_at === 'string' ? spellTimestamp(live.paid_at) : null,
    books_amount: row.amount,
    program_amount: live?.amount ?? null,
    books_currency: row.currency,
    program_currency: live?.currency.toUpperCase() ?? null,
  };
}

const REFUSALS = { not_found: 'unknown', rejected: 'refused', failed: 'unreadable' } as const;

// Money first: where the amounts differ, the time of the payment matters less.
function find(row: BooksEntry, live: Commission): Finding {
  const isOtherAmount = row.amount !== null && row.amount !== live.amount;
  const isOtherCurrency = row.currency !== null && row.currency !== live.currency.toUpperCase();
  if (isOtherAmount || isOtherCurrency) return 'different_amount';
  if (row.paid_at === null) return live.paid_at === null ? 'match' : 'not_in_books';
  if (live.paid_at === null) return 'unpaid_upstream';
  return matchTimestamp(row.paid_at, live.paid_at) === 'different' ? 'different_time' : 'match';
}

/** Returns those that the books lack, and that the mirror has as paid between their first and last payment. */
export async function findPaidElsewhere(db: Database, books: readonly BooksEntry[]): Promise<string[]> {
  const times = books.flatMap(({ paid_at }) => (paid_at === null ? [] : [paid_at]));
  if (times.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select commission.id
    from commissions commission,
      (select min(paid_at) as first, max(paid_at) as last from unnest(${times}::timestamptz[]) as paid_at) as books
    where commission.paid_at between books.first and books.last
      and commission._deleted_at is null
      and commission.id <> all(${books.map(({ commission_id }) => commission_id)}::text[])
    order by commission.paid_at, commission.id
  `.execute(db);
  return rows.map(({ id }) => id);
}
