// The payouts that are to be paid, with what finance checks before: their commissions, the address, and what speaks
// against them.

import { sql } from 'kysely';
import { z } from 'zod';
import type { Database } from '../db/database.ts';
import { count, text, timestamp } from './fields.ts';

export const duePayout = z.object({
  payout_id: text('identifier of the payout'),
  affiliate_id: text('the affiliate who is paid').nullable(),
  affiliate_name: z.string().nullable(),
  payout_address: z.string().nullable(),
  state: text('pending, due or processing, as of the last sync'),
  amount: z.int().describe('amount of the payout'),
  currency: text('its currency'),
  commissions: count('how many commissions it has'),
  refunded: count('those of them that are voided, or whose sale was refunded in full'),
  waiting: count('those of them for which a request waits in the payment ledger'),
  request: z.int().describe('the request to pay it that waits').nullable(),
  created_at: timestamp('when it was made').nullable(),
});

export type DuePayout = z.infer<typeof duePayout>;

/** Returns the payouts that the mirror has as not paid, by affiliate and currency. */
export async function readPayoutsDue(db: Database): Promise<DuePayout[]> {
  const { rows } = await sql<DuePayout>`
    select payout.id as payout_id, payout.affiliate_id,
           nullif(btrim(concat_ws(' ', affiliate.first_name, affiliate.last_name)), '') as affiliate_name,
           coalesce(nullif(affiliate.payout_email, ''), nullif(affiliate.wise_email, '')) as payout_address,
           payout.state, payout.amount, upper(payout.currency collate "C") as currency,
           listed.commissions, listed.refunded, listed.waiting, asked.request, payout.created_at
    from payouts payout
    left join affiliates affiliate on affiliate.id = payout.affiliate_id
    cross join lateral (
      select count(*) as commissions,
             count(not_owed(commission.id)) as refunded,
             count(*) filter (where exists (
               select from commission_updates request
               where request.commission_id = commission.id and request.state = 'pending')) as waiting
      from commissions commission
      where commission.payout_id = payout.id and commission._deleted_at is null
    ) listed
    left join lateral (
      select max(id) as request from commission_updates where payout_id = payout.id and state = 'pending'
    ) asked on true
    where payout._deleted_at is null and payout.paid_at is null and payout.state <> 'paid'
    order by payout.affiliate_id, currency, payout.created_at, payout.id
  `.execute(db);
  return rows;
}
