// Compares the books (a file of payments) with the affiliate program, and proposes fixes. Changes nothing.
//
// A proposal is always a payment that the books have and the affiliate program lacks or dates otherwise. A payment that
// only the affiliate program has is never taken back by a proposal: an empty cell is no instruction.

import { sql } from 'kysely';
import type { ApiClient } from '../../api/client.ts';
import type { Commission } from '../../contract/commission.ts';
import { spellTimestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import type { BooksEntry } from '../files/books-file.ts';
import { NOT_FOUND } from '../judge-update.ts';
import { type LookedUpEach, makeLookUpEach, mapInOrder } from '../look-up.ts';
import { matchTimestamp } from '../timestamps.ts';
import { contentKey, plainRequest, type UpdateRequest } from '../update-request.ts';
import { type FindingTotal, type Summand, sumFindings } from './sum-findings.ts';

/** Every finding with its meaning, in the order of the report. */
export const FINDINGS = {
  match: 'the books and the affiliate program agree',
  amount_not_compared: 'they agree, but for the amount, which the books do not name',
  unpaid_upstream: 'paid in the books, unpaid in the affiliate program',
  not_in_books: 'paid in the affiliate program, unpaid or missing in the books',
  different_time: 'paid in both, at different times',
  different_amount: 'the amount or the currency differs',
  unknown: NOT_FOUND,
  refused: 'the API answers for others, but refuses to show this one',
  unreadable: 'the API answers for others, but not readably for this one',
} as const;

export type Finding = keyof typeof FINDINGS;

/** Returns whether books and affiliate program contradict each other. */
export function isDifference({ finding }: { readonly finding: string }): boolean {
  return finding !== 'match' && finding !== 'amount_not_compared';
}

export interface ReconciledRow {
  /** In the file of the books; null if the commission is not in it. */
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

export interface CurrencyTotal extends Omit<FindingTotal<Finding>, 'count'> {
  /** A commission that has another currency in the books than in the affiliate program counts in the line of each. */
  readonly commissions: number;
}

/**
 * Yields one row per commission, in the order of the books; then those of the others, which the books lack, that the
 * affiliate program has as paid.
 *
 * Throws: the errors of `makeLookUpEach`; the database's errors.
 */
export async function* reconcileBooks(
  deps: { client: ApiClient; db: Database },
  books: readonly BooksEntry[],
  { others, concurrency, signal }: { others: readonly string[]; concurrency: number; signal: AbortSignal },
): AsyncGenerator<ReconciledRow> {
  const { client, db } = deps;
  const read = makeLookUpEach({ client, db }, signal);
  yield* mapInOrder(books, concurrency, async (row) => compare(row, await read(row.commission_id)));
  for await (const row of mapInOrder(others, concurrency, async (id) => ({ id, found: await read(id) }))) {
    // If it is gone or unpaid by now, the books are right not to have it.
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

/**
 * Returns the requests that would make the affiliate program agree with the books, each only if nothing changes
 * meanwhile.
 *
 * A proposal that is repeated while its request waits is the same request: a second would end as conflict. Once that
 * has ended it is a new request, since a payment that was taken back is proposed anew. So the key names the last
 * request that had ended before the API was read. (The key of a payout file never changes: there, --again asks anew.)
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
  const summands = rows.flatMap((row): Summand<Finding>[] => {
    const { finding } = row;
    const booksPaid = row.books_paid_at === null ? 0 : row.books_amount;
    const programPaid = row.program_paid_at === null ? 0 : (row.program_amount ?? 0);
    const currency = row.program_currency ?? row.books_currency ?? '?';
    const booksCurrency = row.books_amount === null ? currency : (row.books_currency ?? currency);
    if (booksCurrency === currency) return [{ currency, finding, booksPaid, programPaid }];
    return [
      { currency, finding, booksPaid: 0, programPaid },
      { currency: booksCurrency, finding, booksPaid, programPaid: 0 },
    ];
  });
  const totals = sumFindings(summands, Object.keys(FINDINGS) as Finding[]);
  return totals.map(({ currency, finding, count, ...sums }) => ({
    currency,
    finding,
    commissions: count,
    ...sums,
  }));
}

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

// Money first: if the amounts differ, the time of the payment matters less.
function find(row: BooksEntry, live: Commission): Finding {
  const isOtherAmount = row.amount !== null && row.amount !== live.amount;
  const isOtherCurrency = row.currency !== null && row.currency !== live.currency.toUpperCase();
  if (isOtherAmount || isOtherCurrency) return 'different_amount';
  if (row.paid_at === null && live.paid_at !== null) return 'not_in_books';
  if (row.paid_at !== null && live.paid_at === null) return 'unpaid_upstream';
  const isOtherTime = row.paid_at !== null && matchTimestamp(row.paid_at, live.paid_at) === 'different';
  if (isOtherTime) return 'different_time';
  return row.amount === null ? 'amount_not_compared' : 'match';
}

/**
 * Returns commissions that the books lack and that the mirror has as paid, or a noted comparison of a file found paid,
 * between the books' first and last payment.
 */
export async function findPaidElsewhere(db: Database, books: readonly BooksEntry[]): Promise<string[]> {
  const times = books.flatMap(({ paid_at }) => (paid_at === null ? [] : [paid_at]));
  if (times.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    with paid as (
      select id, paid_at from commissions where _deleted_at is null
      union all
      select commission_id, (difference::jsonb ->> 3)::timestamptz from books_differences
      where books = 'file' and reason is null and difference::jsonb ->> 1 = 'not_in_books'
    )
    select paid.id
    from paid,
      (select min(paid_at) as first, max(paid_at) as last from unnest(${times}::timestamptz[]) as paid_at) as books
    where paid.paid_at between books.first and books.last
      and paid.id <> all(${books.map(({ commission_id }) => commission_id)}::text[])
    group by paid.id
    order by min(paid.paid_at), paid.id
  `.execute(db);
  return rows.map(({ id }) => id);
}
