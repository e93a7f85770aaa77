// The payouts of the affiliate program that the mirror has: sums by state, and one of them with its commissions.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import {
  type FigurePage,
  figure,
  mirrorTable,
  type Reader,
  readMemoized,
  readPage,
  reportView,
} from './figure.ts';

export interface PayoutStateLine {
  readonly state: string;
  readonly currency: string;
  readonly payouts: number;
  /** A whole number in the API's unit, as text: it may be beyond a number. */
  readonly amount: string;
}

export interface PayoutDetails {
  readonly payout_id: string;
  /** Null: not known. */
  readonly affiliate_id: string | null;
  readonly state: string;
  /** In the API's unit. */
  readonly amount: number;
  readonly currency: string;
  readonly commissions: number;
  readonly created_at: Timestamp | null;
  readonly paid_at: Timestamp | null;
  /** When the mirror found that the API no longer has it; null: it has. */
  readonly deleted_at: Timestamp | null;
  /** With people only. */
  readonly affiliate_name?: string | null;
  readonly affiliate_email?: string | null;
}

export interface PayoutCommission {
  readonly commission_id: string;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly state: string | null;
  readonly due_at: Timestamp | null;
  readonly paid_at: Timestamp | null;
  /** The oldest request for the commission itself that waits; null: none does. */
  readonly waiting_request: number | null;
}

const PAGE_OF_COMMISSIONS = 100;

/** Returns a row for each state and currency of the payouts. */
export const readPayoutStates = figure(
  (reader) => sql<PayoutStateLine>`
      select state, upper(currency collate "C") as currency, count(*) as payouts, sum(amount)::numeric(38, 0) as amount
      from ${reportView(reader, 'payouts')}
      group by state, upper(currency collate "C")
      order by state, currency`,
  readMemoized,
);

/** Returns the payout, also one that is gone, in at most one row; `isFull`: with the affiliate's name and address. */
export const readPayout = figure(
  (reader: Reader, payout: string, { isFull }: { readonly isFull: boolean }) => {
    const affiliates = mirrorTable(reader, 'affiliates');
    const people = sql`,
             nullif(btrim(concat_ws(' ', affiliate.first_name, affiliate.last_name)), '') as affiliate_name,
             affiliate.email as affiliate_email`;
    return sql<PayoutDetails>`
      select payout.id as payout_id, payout.affiliate_id, payout.state, payout.amount,
             upper(payout.currency collate "C") as currency,
             (select count(*) from ${reportView(reader, 'commissions')} where payout_id = payout.id) as commissions,
             payout.created_at, payout.paid_at, payout._deleted_at as deleted_at${isFull ? people : sql``}
      from ${mirrorTable(reader, 'payouts')} payout
      ${isFull ? sql`left join ${affiliates} affiliate on affiliate.id = payout.affiliate_id` : sql``}
      where payout.id = ${payout}`;
  },
);

/** Returns a page of the commissions that the payout lists, by identifier: those after `after`, or the first ones. */
export async function readPayoutCommissions(
  reader: Reader,
  payout: string,
  after: string | null,
): Promise<FigurePage<PayoutCommission, string>> {
  return await readPage<PayoutCommission, string>(
    reader,
    { beyond: after, most: PAGE_OF_COMMISSIONS, keyOf: ({ commission_id }) => commission_id },
    (beyond, most) => sql<PayoutCommission>`
      select id as commission_id, amount, upper(currency collate "C") as currency, state, due_at, paid_at,
             (select min(request.id) from ${mirrorTable(reader, 'commission_updates')} request
              where request.commission_id = commission.id and request.state = 'pending') as waiting_request
      from ${reportView(reader, 'commissions')} commission
      where payout_id = ${payout}${beyond === null ? sql`` : sql` and id > ${beyond}`}
      order by id limit ${most}`,
  );
}
