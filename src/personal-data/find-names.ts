// Finds the full names that a person has in the mirror, and had in its history.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import type { PersonRecords } from './find-person.ts';
import { isHashed } from './values.ts';

/** One word would be found in too much that is about somebody else. */
const IS_FULL_NAME = /[^\s,](?:\s|,)+[^\s,]/;

/**
 * Returns the full names of the records where they are stored plain, as they are and with the last name first. Of
 * affiliates, each first name that they had with each last name.
 */
export async function findNames(
  trx: DatabaseTransaction,
  { affiliates, referrals }: Pick<PersonRecords, 'affiliates' | 'referrals'>,
): Promise<readonly string[]> {
  const { rows } = await sql<{ first: string | null; last: string | null }>`
    with fields as (
      select id, to_jsonb(affiliate) as fields from affiliates affiliate where id = any(${affiliates}::text[])
      union all
      select record_id, side from record_history, unnest(array[before, after]) side
      where table_name = 'affiliates' and record_id = any(${affiliates}::text[])
    ), customers as (
      select customer_name from referrals where id = any(${referrals}::text[])
      union
      select side ->> 'customer_name' from record_history, unnest(array[before, after]) side
      where table_name = 'referrals' and record_id = any(${referrals}::text[])
    )
    select distinct one.fields ->> 'first_name' as first, other.fields ->> 'last_name' as last
    from fields one join fields other using (id)
    union
    select substring(btrim(customer_name) from '^(.*)\\s\\S+$'), substring(btrim(customer_name) from '\\S+$') from customers
  `.execute(trx);
  const names = rows.flatMap(({ first, last }) => {
    if (first === null || last === null || isHashed(first) || isHashed(last)) return [];
    return [`${first} ${last}`, `${last}, ${first}`].filter((name) => IS_FULL_NAME.test(name));
  });
  return [...new Set(names)];
}
