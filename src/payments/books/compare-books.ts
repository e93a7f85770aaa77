// Compares the books with the affiliate program, and proposes requests that would end the differences.

import { sql } from 'kysely';
import type { ApiClient } from '../../api/client.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import type { AskedRow } from '../ask/ask-rows.ts';
import type { BooksEntry } from '../files/books-file.ts';
import { matchTimestamp } from '../timestamps.ts';
import type { UpdateRequest } from '../update-request.ts';
import { noteComparison, readAccepted, spellDifference } from './books-differences.ts';
import {
  findPaidElsewhere,
  isDifference,
  type LastEnded,
  proposeFixes,
  type ReconciledRow,
  reconcileBooks,
} from './reconcile-books.ts';

export interface ComparedRow extends ReconciledRow {
  /** Why the difference was accepted; null if it was not, or there is none. */
  readonly accepted: string | null;
}

export interface ComparedBooks {
  readonly rows: readonly ComparedRow[];
  /** Those that differ, and whose difference was not accepted. */
  readonly differing: readonly ComparedRow[];
  /** Requests for the payments that the affiliate program lacks or dates otherwise. */
  readonly fixes: readonly AskedRow[];
  /** Notes the differences for operations; with `isFixed`, that none is left. Returns as `noteComparison`. */
  note(isFixed?: boolean): Promise<readonly string[]>;
}

export interface CompareOptions {
  /** Payments of the payment ledger before this are left out. */
  readonly since: Timestamp | null;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Called with how many of how many commissions of the books were compared. */
  readonly onProgress: (compared: number, total: number) => void;
}

/**
 * Compares the books of a file with the affiliate program; with null, the payment ledger and the unpaid commissions of
 * the mirror.
 *
 * Throws: the errors of `reconcileBooks`.
 */
export async function compareBooks(
  deps: { client: ApiClient; db: Database },
  ofFile: readonly BooksEntry[] | null,
  { since, concurrency, signal, onProgress }: CompareOptions,
): Promise<ComparedBooks> {
  const { db } = deps;
  const books = ofFile ?? (await readOwnBooks(db, { since }));
  // Before the API is read: a request that ends meanwhile may make a reading old.
  const { lastEnded, waiting } = await readNewestRequests(db, books);
  const others = ofFile === null ? [] : await findPaidElsewhere(db, ofFile);
  const found: ReconciledRow[] = [];
  onProgress(0, books.length);
  const options = { others, concurrency, signal };
  for await (const row of reconcileBooks(deps, books, options)) {
    found.push(row);
    onProgress(Math.min(found.length, books.length), books.length);
  }
  const kept = ofFile === null ? await leaveOutChanged(db, found, { since }) : found;
  const ofKind = ofFile === null ? 'payment_ledger' : 'file';
  const accepted = await readAccepted(db, ofKind);
  const rows = kept.map((row) => ({ ...row, accepted: accepted.get(spellDifference(row)) ?? null }));
  const differences = rows.filter(isDifference);
  const differing = differences.filter((row) => row.accepted === null);
  const fixes = proposeFixes(differing, lastEnded).map((request) => ({
    line: null,
    request: { ...request, same_as: findWaiting(waiting, request) },
    hasOwnKey: true,
  }));
  const note = async (isFixed = false) => {
    const settled = ofFile === null ? await findLeft(db, found) : others;
    const noted = isFixed ? rows.map((row) => ({ ...row, finding: 'match' as const })) : rows;
    return await noteComparison(db, { books: ofKind, since, rows: noted, settled });
  };
  return { rows, differing, fixes, note };
}

interface NewestRequest {
  readonly id: number;
  readonly commission_id: string;
  readonly action: 'pay' | 'unpay';
  readonly paid_at: Timestamp | null;
  readonly is_pending: boolean;
}

interface NewestRequests {
  readonly lastEnded: LastEnded;
  /** The newest waiting request for the payment of each commission, if it is a pay. */
  readonly waiting: ReadonlyMap<string, NewestRequest>;
}

/** Returns the newest requests for the payment of the books' commissions. */
export async function readNewestRequests(
  db: Database,
  books: readonly BooksEntry[],
): Promise<NewestRequests> {
  const { rows } = await sql<NewestRequest>`
    select distinct on (commission_id, is_pending) *
    from (select id, commission_id, action, paid_at, state = 'pending' as is_pending from commission_updates) request
    where commission_id = any(${books.map(({ commission_id }) => commission_id)}::text[]) and action in ('pay', 'unpay')
    order by commission_id, is_pending, id desc
  `.execute(db);
  const ended = rows.filter(({ is_pending }) => !is_pending);
  const waiting = rows.filter(({ is_pending, action }) => is_pending && action === 'pay');
  return {
    lastEnded: new Map(ended.map(({ commission_id, id }) => [commission_id, id])),
    waiting: new Map(waiting.map((request) => [request.commission_id, request])),
  };
}

/**
 * Returns the number of the waiting request that makes this payment; null if none does. A second one would find the
 * commission paid by the first, and end as conflict.
 */
function findWaiting(
  waiting: NewestRequests['waiting'],
  { commission_id, paid_at }: UpdateRequest,
): number | null {
  const newest = waiting.get(commission_id);
  if (newest === undefined || paid_at === null) return null;
  return matchTimestamp(paid_at, newest.paid_at) === 'same' ? newest.id : null;
}

/**
 * Returns one entry for each commission that was paid through the payment ledger and not taken back since, as paid;
 * then one for each other commission that is due (the view unpaid_commissions), as unpaid, even if its payment failed:
 * it may have arrived. Commissions for which a request waits, and payments before `since`, are left out.
 */
export async function readOwnBooks(
  db: Database,
  { since }: { since: Timestamp | null },
): Promise<BooksEntry[]> {
  const { rows } = await sql<BooksEntry>`
    with last as (
      select distinct on (commission_id) *
      from commission_updates
      where commission_id is not null and action in ('pay', 'unpay') and state in ('pending', 'applied', 'unchanged')
      order by commission_id, id desc
    )
    select null as line, commission_id, paid_at,
           (coalesce(after, before) ->> 'amount')::bigint as amount,
           upper((coalesce(after, before) ->> 'currency') collate "C") as currency
    from last
    where action = 'pay' and state <> 'pending' and (${since}::timestamptz is null or paid_at >= ${since})
    union all
    select null, commission_id, null, amount, currency from unpaid_commissions
    where is_due and commission_id not in (select commission_id from last where action = 'pay' or state = 'pending')
    order by paid_at, commission_id
  `.execute(db);
  return rows;
}

/**
 * Returns the rows of a comparison with these books, without those that differ and whose entry has changed meanwhile: a
 * payment that was made or taken back through here while the API was read is no difference.
 */
export async function leaveOutChanged(
  db: Database,
  rows: readonly ReconciledRow[],
  { since }: { since: Timestamp | null },
): Promise<readonly ReconciledRow[]> {
  if (!rows.some(isDifference)) return rows;
  const entries = new Map((await readOwnBooks(db, { since })).map((entry) => [entry.commission_id, entry]));
  return rows.filter((row) => !isDifference(row) || isOfEntry(row, entries.get(row.commission_id)));
}

/**
 * Returns the commissions with a noted difference to the payment ledger that are neither in it now nor due, and for
 * which no request waits: `compared` has all that are.
 */
export async function findLeft(db: Database, compared: readonly ReconciledRow[]): Promise<string[]> {
  const { rows } = await sql<{ commission_id: string }>`
    select commission_id from books_differences
    where books = 'payment_ledger' and commission_id <> all(${compared.map((row) => row.commission_id)}::text[])
      and commission_id not in (select commission_id from commission_updates where state = 'pending')
  `.execute(db);
  return rows.map(({ commission_id }) => commission_id);
}

function isOfEntry(row: ReconciledRow, entry: BooksEntry | undefined): boolean {
  return (
    entry?.paid_at === row.books_paid_at &&
    entry.amount === row.books_amount &&
    entry.currency === row.books_currency
  );
}
