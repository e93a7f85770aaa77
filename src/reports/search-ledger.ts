// Searches for requests in the payment ledger, newest first, and reads one of them with its attempts.

import { type RawBuilder, sql } from 'kysely';
import { addressSpellings } from '../contract/mail-address.ts';
import type { UpdateState } from '../contract/payment-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import {
  type FigurePage,
  figure,
  mirrorTable,
  type Reader,
  readPage,
  reportView,
  whereAll,
} from './figure.ts';
import { isOfBatch } from './read-batches.ts';
import type { PaymentLine } from './read-payment-ledger.ts';

/** Null: any. */
export interface LedgerFilter {
  /** Or the payout that was to be paid. */
  readonly commission: string | null;
  readonly affiliate: string | null;
  readonly state: UpdateState | null;
  /** The exact name, as of the next. */
  readonly batch: string | null;
  readonly requestedBy: string | null;
  /** A part of the name or the email address of the affiliate. */
  readonly person: string | null;
  /** A request, whose batch is meant. */
  readonly batchOf: number | null;
}

/** Every request; a search narrows it. */
export const ANY_REQUEST: LedgerFilter = {
  commission: null,
  affiliate: null,
  state: null,
  batch: null,
  requestedBy: null,
  person: null,
  batchOf: null,
};

/** With people and their texts only with the right to these. */
export interface LedgerLine
  extends Omit<PaymentLine, 'action' | 'commissions' | 'commission_ids' | keyof Values | keyof People>,
    Partial<People> {
  readonly attempts: number;
  /** The next request for the same value, if this one did not end well; null: there is none. */
  readonly followed_by: number | null;
}

export interface LedgerDetails extends LedgerLine, Values {
  /** Whether the API ever answered with its commission; if not, the values are not known. */
  readonly is_read: boolean;
  /** Null: it is due. */
  readonly next_attempt_at: Timestamp | null;
}

type Values = Pick<PaymentLine, 'paid_at_before' | 'paid_at_after' | 'due_at_before' | 'due_at_after'>;

type People = Pick<
  PaymentLine,
  'batch' | 'outcome' | 'note' | 'reason' | 'requested_by' | 'affiliate_name' | 'affiliate_email'
>;

export interface Attempt {
  readonly id: number;
  readonly method: 'GET' | 'PUT';
  readonly sent_at: Timestamp;
  readonly duration_ms: number | null;
  readonly status: number | null;
  readonly error_code: string | null;
  /** The form of a PUT. */
  readonly sent: string | null;
  readonly received: Readonly<Record<string, unknown>> | null;
  /** May quote the API: only with the right to personal data. */
  readonly error?: string | null;
}

const PAGE_OF_LEDGER = 50;
const PAGE_OF_ATTEMPTS = 100;

/** Returns a page of matching requests, newest first; `isFull`: with people and their texts. */
export async function searchLedger(
  reader: Reader,
  filter: LedgerFilter,
  { before, isFull }: { readonly before: number | null; readonly isFull: boolean },
): Promise<FigurePage<LedgerLine>> {
  const conditions = conditionsOf(reader, filter);
  const ledger = reportView(reader, 'commission_ledger');
  return await readPage<LedgerLine, number>(
    reader,
    { beyond: before, most: PAGE_OF_LEDGER, keyOf: ({ request }) => request },
    // The few matches are found first, as an array, and the lines are read for these only. (With `in (select …)` the
    // planner joins and counts the attempts of every request.)
    (beyond, most) => sql<LedgerLine>`
      select line.request, line.commission_id, line.payout_id, line.affiliate_id, line.asked, line.state, updates.attempts, line.puts,
             line.requested_at, line.finished_at, line.amount, line.currency, line.followed_by${isFull ? PEOPLE : sql``}
      from ${ledger} line
      join ${mirrorTable(reader, 'commission_updates')} updates on updates.id = line.request
      where line.request = any (array(
        select request from ${ledger}
        ${whereAll([...conditions, ...(beyond === null ? [] : [sql`request < ${beyond}`])])}
        order by request desc limit ${most}
      ))
      order by line.request desc`,
  );
}

/** Returns the request with this number, in at most one row. */
export const readLedgerLine = figure(
  (reader: Reader, request: number, { isFull }: { readonly isFull: boolean }) => sql<LedgerDetails>`
      select line.request, line.commission_id, line.payout_id, line.affiliate_id, line.asked, line.state, updates.attempts, line.puts,
             line.requested_at, line.finished_at, line.amount, line.currency, line.followed_by,
             num_nonnulls(updates.before, updates.after) > 0 as is_read, line.paid_at_before, line.paid_at_after,
             line.due_at_before, line.due_at_after,
             case when updates.next_attempt_at > clock_timestamp() then updates.next_attempt_at end
               as next_attempt_at${isFull ? PEOPLE : sql``}
      from ${reportView(reader, 'commission_ledger')} line
      join ${mirrorTable(reader, 'commission_updates')} updates on updates.id = line.request
      where line.request = ${request}`,
);

/**
 * Returns a page of the HTTP requests for the payment request, newest first: those before the number `before`, or the
 * newest; `isFull`: with the API's message.
 */
export async function readAttempts(
  reader: Reader,
  request: number,
  { before, isFull }: { readonly before: number | null; readonly isFull: boolean },
): Promise<FigurePage<Attempt>> {
  const attempts = mirrorTable(reader, 'commission_update_attempts');
  const isBefore = (id: number) => sql`
        and (sent_at, id) < (select sent_at, id from ${attempts} where id = ${id} and update_id = ${request})`;
  return await readPage<Attempt, number>(
    reader,
    { beyond: before, most: PAGE_OF_ATTEMPTS, keyOf: ({ id }) => id },
    (beyond, most) => sql<Attempt>`
      select id, method, sent_at, duration_ms, status, error_code, sent, received${isFull ? sql`, error` : sql``}
      from ${attempts}
      where update_id = ${request}${beyond === null ? sql`` : isBefore(beyond)}
      order by sent_at desc, id desc limit ${most}`,
  );
}

const PEOPLE = sql`, line.batch, line.outcome, line.note, line.reason, line.requested_by,
             line.affiliate_name, line.affiliate_email`;

function conditionsOf(reader: Reader, filter: LedgerFilter): RawBuilder<unknown>[] {
  const { commission, affiliate, state, batch, requestedBy, person, batchOf } = filter;
  return [
    ...(commission === null
      ? []
      : [
          sql`request = any (array(select id from ${mirrorTable(reader, 'commission_updates')}
            where commission_id = ${commission} or payout_id = ${commission}))`,
        ]),
    ...(affiliate === null ? [] : [sql`affiliate_id = ${affiliate}`]),
    ...(state === null ? [] : [sql`state = ${state}`]),
    ...(batch === null ? [] : [sql`batch = ${batch}`]),
    ...(batchOf === null ? [] : [isOfBatch(reader, sql`batch`, batchOf)]),
    ...(requestedBy === null ? [] : [sql`requested_by = ${requestedBy}`]),
    ...(person === null ? [] : [sql`(${sql.join(addressSpellings(person).map(isInPerson), sql` or `)})`]),
  ];
}

function isInPerson(text: string): RawBuilder<unknown> {
  return sql`strpos(lower(concat_ws(' ', affiliate_name, affiliate_email)), lower(${text})) > 0`;
}
