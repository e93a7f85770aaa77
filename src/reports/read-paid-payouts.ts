// The payouts that were paid, and the affiliates that a payment provider's file names: for a reconciliation of the two.

import { sql } from 'kysely';
import { addressSpellings } from '../contract/mail-address.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';

export interface PaidPayout {
  readonly payout_id: string;
  readonly affiliate_id: string | null;
  readonly state: string;
  readonly amount: number;
  readonly currency: string;
  /** Null while it is being paid. */
  readonly paid_at: Timestamp | null;
}

/** Returns the payouts that are paid or processing, in order of payment. Those paid before `since` are left out. */
export async function readPaidPayouts(
  db: Database,
  { since }: { readonly since: Timestamp | null },
): Promise<PaidPayout[]> {
  const { rows } = await sql<PaidPayout>`
    select id as payout_id, affiliate_id, state, amount, upper(currency collate "C") as currency, paid_at
    from payouts
    where _deleted_at is null and (paid_at is not null or state in ('paid', 'processing'))
      and (${since}::timestamptz is null or paid_at is null or paid_at >= ${since})
    order by paid_at, id`.execute(db);
  return rows;
}

/**
 * Returns for each list of texts the affiliates whose identifier, email address or payout address is one of them, in
 * any spelling.
 */
export async function findPayees(
  db: Database,
  texts: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  const forms = texts.flatMap((of, index) =>
    of.flatMap(addressSpellings).map((form) => ({ index, form: form.toLowerCase() })),
  );
  // lower() of a Turkish database turns I into another letter than i.
  const { rows } = await sql<{ index: number; ids: string[] }>`
    select named.index, array_agg(distinct affiliate.id) as ids
    from unnest(${forms.map(({ index }) => index)}::int[], ${forms.map(({ form }) => form)}::text[])
      as named (index, form)
    join (
      select id, lower(replace(spelled.form, 'I', 'i')) as form
      from affiliates, lateral (values (id), (email), (payout_email), (wise_email)) spelled (form)
    ) affiliate on affiliate.form = named.form
    group by named.index`.execute(db);
  const found = new Map(rows.map(({ index, ids }) => [index, ids]));
  return texts.map((_, index) => found.get(index) ?? []);
}
