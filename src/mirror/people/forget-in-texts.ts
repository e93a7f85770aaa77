// Replaces the names and addresses of a person in texts of the payment ledger: those that people wrote, and the reasons
// of the API's refusals.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { PersonRecords } from './find-person.ts';
import { count, type RowCounts } from './rewriting.ts';
import { isHashed } from './values.ts';

/** The columns that people fill in, and the one that may have the API's reason for a refusal. */
const TEXTS = ['reason', 'batch_id', 'outcome'] as const;

/** Never rewritten: the key that prevents a second payment, and the name of the requester. */
const UNTOUCHED = ['idempotency_key', 'requested_by'] as const;

/** Returns a pattern that finds each text unless it is part of a longer address or word; null if there are no texts. */
export function patternOf(texts: readonly string[]): string | null {
  const given = [...new Set(texts)].filter((text) => text.trim() !== '');
  if (given.length === 0) return null;
  const spelled = given.map((text) =>
    text
      .replace(/[^\p{L}\p{N}\s@_-]/gu, '\\$&')
      .replace(/,?\s+/g, (gap) => (gap.startsWith(',') ? ',\\s*' : '\\s+')),
  );
  return `(?<![\\w.+-])(?:${spelled.join('|')})(?![\\w-]|\\.\\w)`;
}

/** Replaces each match of the pattern, in upper or lower case, with `[forgotten]`. */
export async function forgetInTexts(
  trx: DatabaseTransaction,
  pattern: string,
  counts: RowCounts,
): Promise<void> {
  await sql`alter table commission_updates disable trigger keep_request`.execute(trx);
  const forgotten = TEXTS.map((column) => {
    const text = sql.ref(column);
    return sql`${text} = regexp_replace(${text}, ${pattern}, '[forgotten]', 'gi')`;
  });
  const found = TEXTS.map((column) => sql`${sql.ref(column)} ~* ${pattern}`);
  const rows = await sql`
    update commission_updates set ${sql.join(forgotten)} where ${sql.join(found, sql` or `)}
  `.execute(trx);
  count(counts, 'commission_updates', rows);
  await sql`alter table commission_updates enable trigger keep_request`.execute(trx);
}

export interface NotRewritten {
  readonly table: string;
  readonly column: string;
  readonly rows: number;
}

/** Returns the columns in which the pattern still matches, because they are never rewritten. */
export async function findNotRewritten(
  trx: DatabaseTransaction,
  pattern: string,
): Promise<readonly NotRewritten[]> {
  const columns: NotRewritten[] = [];
  for (const column of UNTOUCHED) {
    const answer = await sql<{ rows: number }>`
      select count(*) as rows from commission_updates where ${sql.ref(column)} ~* ${pattern}
    `.execute(trx);
    const found = onlyRow(answer, 'the count of mentions').rows;
    if (found > 0) columns.push({ table: 'commission_updates', column, rows: found });
  }
  return columns;
}

/** A single word would be found in too many texts about other people. */
const IS_FULL_NAME = /[^\s,](?:\s|,)+[^\s,]/;

/**
 * Returns the full names that the records have and had, if they are stored in plain text: as they are, and with the
 * last name first. For affiliates, each first name with each last name.
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
