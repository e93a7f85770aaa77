// What is payable: what a payout file is made of, and how much of the program the answer covers.

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
  /** Null: the mirror keeps no addresses of the affiliate. */
  readonly has_payout_address: boolean | null;
  /** As the program counts. */
  readonly amount: number;
  readonly currency: string;
}

export interface PayableQuestion {
  /** Due before this moment instead of by now. */
  readonly before: Timestamp | null;
  /** Of these affiliates only; null: of all. */
  readonly affiliateIds: readonly string[] | null;
}

export interface Payable {
  /** By affiliate. */
  readonly commissions: readonly PayableCommission[];
  /** Why others that are due are not among them (unpaid_commissions.withheld) → how many. */
  readonly withheld: ReadonlyMap<string, number>;
}

/** What is payable to one affiliate in one currency. */
export interface Balance extends Omit<PayableCommission, 'commission_id' | 'amount'> {
  readonly commissions: readonly PayableCommission[];
  readonly amount: bigint;
  /** Why it is not to be transferred; null where it is. */
  readonly obstacle: 'no payout address' | 'zero or negative' | null;
}

/** Returns the balances, in the order of their first commissions: payouts_due, also for a day to come. */
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

/** Returns what is payable (the view unpaid_commissions). */
export async function readPayable(db: Database, { before, affiliateIds }: PayableQuestion): Promise<Payable> {
  const { rows } = await sql<PayableCommission & { withheld: string | null }>`
    select commission_id, affiliate_id, affiliate_name, affiliate_email, payout_email, wise_email, has_payout_address,
           amount, currency, withheld
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

/** Returns the affiliates whose identifier or email address is one of the texts, in any spelling. */
export async function findAffiliates(db: Database, forms: readonly string[]): Promise<string[]> {
  const lowered = forms.flatMap(addressSpellings).map((form) => form.toLowerCase());
  // A Turkish database makes another letter of I than i.
  const { rows } = await sql<{ id: string }>`
    select id from affiliates
    where id = any(${lowered}::text[]) or lower(replace(email, 'I', 'i')) = any(${lowered}::text[])
    order by id
  `.execute(db);
  return rows.map(({ id }) => id);
}

export interface CommissionCoverage {
  /** How many commissions the mirror holds that are not gone. */
  readonly known: number;
  /** Whether commissions are mirrored by the program's list. */
  readonly isListed: boolean;
  /** The mirror has all of them, as they were read in one go since then. Null: it need not have every one. */
  readonly everything_as_of: Timestamp | null;
  /** The same, with what changed since, but for what a delta cannot see. */
  readonly changes_as_of: Timestamp | null;
  /** How many that the program listed could not be stored. */
  readonly not_stored: number;
  /**
   * Of the commissions that are asked for one by one, the longest since the program answered; null where there are
   * none.
   */
  readonly polled_as_of: Timestamp | null;
}

/** Returns how much of the program's commissions the mirror knows, and as of when. */
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
