// The payable commissions, from which a payout file is made, and their coverage of the affiliate program.

import { sql } from 'kysely';
import { addressSpellings } from '../contract/mail-address.ts';
import { addAmounts } from '../contract/money.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import type { Reader } from './figure.ts';
import { readFreshness } from './read-freshness.ts';

export interface PayableCommission {
  readonly commission_id: string;
  readonly affiliate_id: string | null;
  readonly affiliate_name: string | null;
  readonly affiliate_email: string | null;
  readonly payout_email: string | null;
  readonly wise_email: string | null;
  /** Null: the mirror stores no addresses of the affiliate. */
  readonly has_payout_address: boolean | null;
  /** In the API's unit. */
  readonly amount: number;
  readonly currency: string;
  readonly due_at: Timestamp | null;
  /** The payout that is to pay it too; null if none is. */
  readonly payout_id: string | null;
}

export interface PayableQuestion {
  /** Due before this moment instead of by now. */
  readonly before: Timestamp | null;
  /** Null: all. */
  readonly affiliateIds: readonly string[] | null;
}

export interface Payable {
  /** By affiliate. */
  readonly commissions: readonly PayableCommission[];
  /** The numbers of other due commissions, by the reason why they are withheld (unpaid_commissions.withheld). */
  readonly withheld: ReadonlyMap<string, number>;
}

/** The payable amount of one affiliate in one currency. */
export interface Balance
  extends Omit<PayableCommission, 'commission_id' | 'amount' | 'due_at' | 'payout_id'> {
  readonly commissions: readonly PayableCommission[];
  readonly amount: bigint;
  /** Why it must not be transferred; null if it may. */
  readonly obstacle: 'no payout address' | 'zero or negative' | null;
}

/** Returns the balances, in the order of their first commissions: as payouts_due, also for a future day. */
export function balancesOf(commissions: readonly PayableCommission[]): Balance[] {
  const groups = Map.groupBy(commissions, ({ affiliate_id, currency }) => `${affiliate_id} ${currency}`);
  return [...groups.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const amount = addAmounts(of.map((commission) => commission.amount));
    const lacking = first.has_payout_address === false ? 'no payout address' : null;
    return [{ ...first, commissions: of, amount, obstacle: amount > 0n ? lacking : 'zero or negative' }];
  });
}

/** From the view unpaid_commissions. */
export async function readPayable(db: Database, { before, affiliateIds }: PayableQuestion): Promise<Payable> {
  const { rows } = await sql<PayableCommission & { withheld: string | null }>`
    select commission_id, affiliate_id, affiliate_name, affiliate_email, payout_email, wise_email, has_payout_address,
           amount, currency, due_at, withheld, payout_id
    from unpaid_commissions
    where case when ${before}::timestamptz is null then is_due else coalesce(due_at < ${before}::timestamptz, is_due) end
      and (${affiliateIds}::text[] is null or affiliate_id = any(${affiliateIds}::text[]))
    order by affiliate_email, affiliate_id, currency, commission_id
  `.execute(db);
  const withheld = new Map<string, number>();
  const commissions = rows.flatMap(({ withheld: reason, ...commission }) => {
    if (reason === null) return [commission];
    withheld.set(reason, (withheld.get(reason) ?? 0) + 1);
    return [];
  });
  return { commissions, withheld };
}

/** Returns the names of the affiliates who earn the commissions, by commission, as far as the mirror has them. */
export async function readAffiliateNames(
  db: Database,
  commissionIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await sql<{ id: string; name: string | null }>`
    select commission.id, nullif(btrim(concat_ws(' ', affiliate.first_name, affiliate.last_name)), '') as name
    from commissions commission
    join sales sale on sale.id = commission.sale_id
    join affiliates affiliate on affiliate.id = sale.affiliate_id
    where commission.id = any(${commissionIds}::text[])
  `.execute(db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns the affiliates whose identifier or email address is one of the texts, in any spelling. */
export async function findAffiliates(db: Database, forms: readonly string[]): Promise<string[]> {
  const lowered = forms.flatMap(addressSpellings).map((form) => form.toLowerCase());
  // lower() of a Turkish database turns I into another letter than i.
  const { rows } = await sql<{ id: string }>`
    select id from affiliates
    where id = any(${lowered}::text[]) or lower(replace(email, 'I', 'i')) = any(${lowered}::text[])
    order by id
  `.execute(db);
  return rows.map(({ id }) => id);
}

export interface CommissionCoverage {
  /** The number of commissions that are not marked deleted. */
  readonly known: number;
  /** Whether commissions are mirrored by the API's list. */
  readonly isListed: boolean;
  /** Start of the run that read all of them. Null: some may be missing. */
  readonly everything_as_of: Timestamp | null;
  /** The same with later changes, except those that a delta cannot see. */
  readonly changes_as_of: Timestamp | null;
  /** The number of listed commissions that could not be stored. */
  readonly not_stored: number;
  /** The oldest answer among the commissions that are polled one by one; null if there are none. */
  readonly polled_as_of: Timestamp | null;
}

export async function readCoverage(reader: Reader): Promise<CommissionCoverage> {
  const answer = await sql<Pick<CommissionCoverage, 'known' | 'isListed' | 'polled_as_of'>>`
    select (select count(*) from commissions where _deleted_at is null) as known,
           (select is_used from optional_lists where resource = 'commissions') as "isListed",
           (select min(last_polled_at) from tracked_commissions where next_poll_at is not null) as polled_as_of
  `.execute(reader.db);
  const { isListed, ...counted } = onlyRow(answer, 'the count of commissions');
  const { rows } = await readFreshness(reader);
  const list = isListed ? rows.find(({ resource }) => resource === 'commissions') : undefined;
  return {
    ...counted,
    isListed,
    not_stored: list?.rejected_records ?? 0,
    everything_as_of: list?.everything_as_of ?? null,
    changes_as_of: list?.everything_as_of == null ? null : list.changes_as_of,
  };
}
