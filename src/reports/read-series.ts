// The figures of the charts: referrals, leads and conversions by day, and commissions by the month in which they are
// due.

import { type RawBuilder, sql } from 'kysely';
import { displayZone } from '../contract/time-zone.ts';
import { exactSum, figure, mirrorTable, type Reader, readMemoized, reportView } from './figure.ts';

/** One UTC day; a day without events has zeros. */
export interface FunnelDay {
  /** Shape: YYYY-MM-DD; `earlier` are all days before the first. */
  readonly day: string;
  readonly new_referrals: number;
  readonly leads: number;
  readonly conversions: number;
}

/** Units: as commissions.amount. A sum is null if a number cannot hold it. */
export interface DueMonth {
  /** Shape: YYYY-MM, of the display zone; `earlier` and `later` are all months before the first and after the last. */
  readonly month: string;
  readonly currency: string | null;
  readonly commissions: number;
  readonly paid: number | null;
  readonly overdue: number | null;
  readonly due: number | null;
  readonly withheld: number | null;
  readonly pending: number | null;
}

const DUE_SUMS = ['paid', 'overdue', 'due', 'withheld', 'pending'];
const MONTHS_BEFORE = 11;
const MONTHS_AFTER = 3;

/** Returns what came earlier, and the last days, today included, oldest first. */
export const readFunnel = figure(
  (reader: Reader, days: number) => sql<FunnelDay>`
      select case ago when ${days}::int then 'earlier' else to_char(today - ago, 'YYYY-MM-DD') end as day,
             coalesce(sum(new_referrals), 0)::bigint as new_referrals, coalesce(sum(leads), 0)::bigint as leads,
             coalesce(sum(conversions), 0)::bigint as conversions
      from (select (now() at time zone 'UTC')::date as today) as clock
      cross join generate_series(0, ${days}::int) as ago
      left join ${reportView(reader, 'referral_funnel_daily')} as counted on least(today - counted.day, ${days}::int) = ago
      group by today, ago
      order by ago desc`,
  readMemoized,
);

/**
 * Returns the commissions that are due earlier, in the last months, this one and the next, and later, for each currency
 * oldest first; a month without due commissions has zeros.
 */
export const readDueMonths = figure(
  (reader) => sql<DueMonth>`
      with months as (
        select ahead, (date_trunc('month', now() at time zone ${displayZone()}::text) + make_interval(months => ahead))::date as month
        from generate_series(${-MONTHS_BEFORE - 1}::int, ${MONTHS_AFTER + 1}::int) as ahead
      ), aging as materialized (
        select greatest(least(aging.month, last.month), first.month) as month, currency, commissions,
               ${sql.raw(DUE_SUMS.join(', '))}
        from ${agingOf(reader)} as aging
        join months as first on first.ahead = ${-MONTHS_BEFORE - 1}::int
        join months as last on last.ahead = ${MONTHS_AFTER + 1}::int
        where aging.month is not null
      )
      select case ahead when ${-MONTHS_BEFORE - 1}::int then 'earlier' when ${MONTHS_AFTER + 1}::int then 'later'
               else to_char(month, 'YYYY-MM') end as month,
             currency, commissions,
             ${sql.join(DUE_SUMS.map(exactSum), sql`,\n             `)}
      from (
        select ahead, months.month, currencies.currency, coalesce(sum(commissions), 0)::bigint as commissions,
               ${sql.raw(DUE_SUMS.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(', '))}
        from (select distinct currency from aging) as currencies
        cross join months
        left join aging
          on aging.month = months.month and aging.currency is not distinct from currencies.currency
        group by ahead, months.month, currencies.currency
      ) as sums
      order by currency, ahead`,
  readMemoized,
);

/** The report commission_aging, by the months of the display zone. */
function agingOf(reader: Reader): RawBuilder<unknown> {
  const sums = DUE_SUMS.map((stage) => sql.raw(`sum(amount) filter (where stage = '${stage}') as ${stage}`));
  return sql`(
          select date_trunc('month', payable_at at time zone ${displayZone()}::text)::date as month, currency,
                 count(*) as commissions,
                 ${sql.join(sums, sql`,\n                 `)}
          from ${mirrorTable(reader, 'commission_stages')}
          group by 1, 2
        )`;
}
