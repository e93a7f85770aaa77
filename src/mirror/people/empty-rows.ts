// Empties the stored rows of forgotten people, by the triggers that keep them out of later rows, and the copies in the
// history and in rejected records, by the same functions.

import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../../db/database.ts';
import { LOAD_ORDER } from '../../decode/mirrored-tables.ts';
import { PERSONAL_COLUMNS } from './personal-columns.ts';
import { count, keepNoHistory, type RowCounts } from './rewriting.ts';

/** Conditions on further rows that hold a forgotten person's data, although their identifiers are another's. */
const ALSO: Readonly<Record<string, RawBuilder<boolean>>> = {
  affiliates: sql`find_forgotten('', '', payout_email) is not null or find_forgotten('', '', wise_email) is not null`,
  referrals: sql`coupon is not null and exists (
    select from forgotten_records
    where table_name = 'affiliates' and record_id in (affiliate_id, lower(coupon ->> 'affiliate_id')))`,
};

/**
 * Empties the data of all forgotten people, and adds to `counts`. Rejected records are emptied as well if they contain
 * one of the names. The transaction writes no history from here to its end.
 */
export async function emptyRows(
  trx: DatabaseTransaction,
  counts: RowCounts,
  names: readonly string[],
): Promise<void> {
  await keepNoHistory(trx);
  for (const table of LOAD_ORDER) {
    const rows = await sql`
      update ${sql.table(table)} set id = id
      where id in (select record_id from forgotten_records where table_name = ${table})
        or _extra is not null and names_forgotten(_extra::text)
        or ${ALSO[table] ?? sql`false`}
    `.execute(trx);
    count(counts, table, rows);
  }
  await emptyHistory(trx, counts);
  await emptyRejected(trx, counts, names);
}

async function emptyHistory(trx: DatabaseTransaction, counts: RowCounts): Promise<void> {
  const columns = JSON.stringify(
    Object.fromEntries(
      Object.entries(PERSONAL_COLUMNS).map(([table, kinds]) => [table, [...Object.keys(kinds), '_extra']]),
    ),
  );
  // A coupon belongs to the affiliate: if the change does not name one, to the referral's affiliate of today.
  const emptied = (side: RawBuilder<unknown>) => sql`without_person(${side}, array(
    select key from jsonb_each_text(${side})
    where case
      when person.number is not null then ${columns}::jsonb -> history.table_name ? key
      when key in ('payout_email', 'wise_email') then find_forgotten('', '', value) is not null
      when key = '_extra' then names_forgotten(value)
      when key = 'coupon' then coalesce(
        find_forgotten('affiliates', coalesce(${side} ->> 'affiliate_id', referral.affiliate_id)),
        find_forgotten('affiliates', lower(${side} -> 'coupon' ->> 'affiliate_id'))) is not null
      else false
    end))`;
  const rows = await sql`
    update record_history kept set before = emptied.before, after = emptied.after
    from (
      select history.id, ${emptied(sql`history.before`)} as before, ${emptied(sql`history.after`)} as after
      from record_history history
      left join forgotten_records person using (table_name, record_id)
      left join referrals referral on history.table_name = 'referrals' and referral.id = history.record_id
      where history.before is not null
        and (person.number is not null or history.before ?| array['payout_email', 'wise_email', '_extra', 'coupon'])
      offset 0
    ) emptied
    where kept.id = emptied.id and (kept.before, kept.after) is distinct from (emptied.before, emptied.after)
  `.execute(trx);
  count(counts, 'record_history', rows);
}

async function emptyRejected(
  trx: DatabaseTransaction,
  counts: RowCounts,
  names: readonly string[],
): Promise<void> {
  // Their own trigger empties those that name a person by an address or an identifier.
  const rows = await sql`
    update rejected_records set payload = case
      when exists (select from unnest(${names}::text[]) name where strpos(lower(payload::text), lower(name)) > 0)
      then json_build_object('id', record_id, 'left_out', 'rejection ' || id) else payload end
    where payload::text !~ '^\\{"id" ?: ?("[^"]*"|null), ?"left_out" ?: ?"[^"]*"\\}$' and (
      names_forgotten(concat_ws(' ', record_id, payload::text))
      or exists (select from unnest(${names}::text[]) name where strpos(lower(payload::text), lower(name)) > 0))
  `.execute(trx);
  count(counts, 'rejected_records', rows);
}
