// What was paid in a span of days, by currency and affiliate: the commissions that the mirror has as paid then.

import { sql } from 'kysely';
import { formatDay } from '../contract/format.ts';
import { displayZone } from '../contract/time-zone.ts';
import { type Figure, type Reader, readFigure, reportView } from './figure.ts';

/** Days of the display zone, such as 2026-11-01; null: open. */
export interface PaidSpan {
  readonly from: string | null;
  /** The first day that is no longer in it. */
  readonly before: string | null;
}

/** The sum of one affiliate in one currency, or with `is_total` of all affiliates. */
export interface PaidLine {
  readonly currency: string | null;
  readonly is_total: boolean;
  /** Null: its sale names none. */
  readonly affiliate_id: string | null;
  readonly commissions: number;
  /** A whole number in the API's unit, as text: it may be beyond a number. */
  readonly amount: string;
  /** With people only. */
  readonly affiliate_name?: string | null;
  readonly affiliate_email?: string | null;
}

export interface PaidQuestion extends PaidSpan {
  /** With names and addresses. */
  readonly isFull: boolean;
  /** Null: all lines. */
  readonly most: number | null;
}

/** Returns the totals, then the affiliates by currency, the largest sum first. */
export async function readPaid(
  reader: Reader,
  { from, before, isFull, most }: PaidQuestion,
  read = readFigure,
): Promise<Figure<PaidLine>> {
  const begins = (day: string) => sql`(${day}::timestamp at time zone ${displayZone()})`;
  const ofOne = (text: string) =>
    sql`case when grouping(paid.affiliate_id) = 0 then min(${sql.raw(text)}) end`;
  const people = sql`,
             ${ofOne("nullif(btrim(concat_ws(' ', first_name, last_name)), '')")} as affiliate_name,
             ${ofOne('email')} as affiliate_email`;
  return await read(
    reader,
    sql<PaidLine>`
      select paid.currency, grouping(paid.affiliate_id) = 1 as is_total, paid.affiliate_id, count(*) as commissions,
             coalesce(sum(paid.amount), 0)::numeric(38, 0) as amount${isFull ? people : sql``}
      from (
        select upper(currency collate "C") as currency, affiliate_id, amount
        from ${reportView(reader, 'commissions')}
        where paid_at is not null
        ${from === null ? sql`` : sql`and paid_at >= ${begins(from)}`}
        ${before === null ? sql`` : sql`and paid_at < ${begins(before)}`}
      ) paid
      ${isFull ? sql`left join ${reportView(reader, 'affiliates')} affiliate on affiliate.id = paid.affiliate_id` : sql``}
      group by grouping sets ((paid.currency), (paid.currency, paid.affiliate_id))
      order by is_total desc, currency, sum(paid.amount) desc, affiliate_id
      ${most === null ? sql`` : sql`limit ${most}`}`,
  );
}

/** Returns the present month in the display zone, such as 2026-11. */
export function thisMonth(): string {
  return formatDay(new Date().toISOString()).slice(0, 7);
}

/** Returns the month that is so many after this one. */
export function addMonths(month: string, count: number): string {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year ?? 0, (number ?? 1) - 1 + count)).toISOString().slice(0, 7);
}

export function spanOfMonth(month: string): PaidSpan {
  return { from: `${month}-01`, before: `${addMonths(month, 1)}-01` };
}
