// What the charts show of the program's business: referrals, leads and conversions by day, and commissions by the month
// in which they are due.

import { sql } from 'kysely';
import { exactSum, figure, type Reader, readMemoized, reportView } from './figure.ts';

/** One UTC day; a day on which nothing happened has zeros. */
export interface FunnelDay {
  /** Shape: YYYY-MM-DD. */
  readonly day: string;
  readonly new_referrals: number;
  readonly leads: number;
  readonly conversions: number;
}

/** Units: as commissions.amount. A sum is null where a number could not hold it. */
export interface DueMonth {
  /** Shape: YYYY-MM. */
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

/** Returns the last days, today included, oldest first. */
export const readFunnel = figure(
  (reader: Reader, days: number) => sql<FunnelDay>`
      select to_char(day, 'YYYY-MM-DD') as day, coalesce(new_referrals, 0) as new_referrals,
             coalesce(leads, 0) as leads, coalesce(conversions, 0) as conversions
      from (
        select (now() at time zone 'UTC')::date - ago as day from generate_series(0, ${days - 1}::int) as ago
      ) as days
      left join ${reportView(reader, 'referral_funnel_daily')} using (day)
      order by day`,
  readMemoized,
);

/**
 * Returns the commissions that are due in the last months, this one and the next, for each currency oldest first; a
 * month in which none is due has zeros.
 */
export const readDueMonths = figure(
  (reader) => sql<DueMonth>`
      with months as (
        select (date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead))::date as month
        from generate_series(${-MONTHS_BEFORE}::int, ${MONTHS_AFTER}::int) as ahead
      ), aging as materialized (
        select * from ${reportView(reader, 'commission_aging')} where month in (select month from months)
      )
      select to_char(month, 'YYYY-MM') as month, currency, commissions,
             ${sql.join(DUE_SUMS.map(exactSum), sql`,\n             `)}
      from (
        select months.month, currencies.currency, coalesce(commissions, 0) as commissions, coalesce(paid, 0) as paid,
               coalesce(overdue, 0) as overdue, coalesce(due, 0) as due, coalesce(withheld, 0) as withheld,
               coalesce(pending, 0) as pending
        from (select distinct currency from aging) as currencies
        cross join months
        left join aging
          on aging.month = months.month and aging.currency is not distinct from currencies.currency
      ) as sums
      order by currency, sums.month`,
  readMemoized,
);
