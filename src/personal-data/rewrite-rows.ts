// Rewrites what the mirror holds already by a rule: the mirrored tables, their history and the rejected records.
//
// In the caller's transaction and under the lock of loads, so that nobody sees half of it and nothing is loaded beside
// it. The triggers that keep the history are off meanwhile: they would write the old values again. That needs the owner
// of the tables. Rows go through Node, since the key must not reach the database.

import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { storableJson } from '../db/storable.ts';
import { COLUMN_NAMES, COLUMN_TYPES, LOAD_ORDER, type MirroredTable } from '../records/mirrored-tables.ts';
import { inBatches } from './in-batches.ts';
import { LEFT_OUT } from './make-personal-data.ts';
import { PERSONAL_COLUMNS } from './personal-columns.ts';
import { type Fields, mentionsForgotten, type Rule } from './rule.ts';
import { treatFields } from './treat-fields.ts';

/** Few enough that the server, which waits meanwhile, does not take this process for a stopped one. */
const BATCH = 2000;

/** How many rows were rewritten, by table. */
export type RowCounts = Map<string, number>;

/** Rewrites all rows, and adds to `counts`. `names` finds people by their names in what was rejected. */
export async function rewriteRows(
  trx: DatabaseTransaction,
  rule: Rule,
  { counts, names = null }: { counts: RowCounts; names?: RegExp | null },
): Promise<void> {
  for (const table of LOAD_ORDER) {
    await sql`alter table ${sql.table(table)} disable trigger user`.execute(trx);
    count(counts, table, await rewriteTable(trx, rule, table));
    await sql`alter table ${sql.table(table)} enable trigger user`.execute(trx);
  }
  count(counts, 'record_history', await rewriteHistory(trx, rule));
  count(counts, 'rejected_records', await rewriteRejected(trx, rule, names));
}

/** Adds the rows that were rewritten to those of the table. */
export function count(counts: RowCounts, table: string, rewritten: number): void {
  if (rewritten > 0) counts.set(table, (counts.get(table) ?? 0) + rewritten);
}

async function rewriteTable(trx: DatabaseTransaction, rule: Rule, table: MirroredTable): Promise<number> {
  const personal = Object.keys(PERSONAL_COLUMNS[table]);
  const looked = [...personal, ...COLUMN_NAMES[table].filter((name) => name === 'affiliate_id'), '_extra'];
  const assign = [...personal, '_extra'].map((column) => assignment(table, column));
  let rewritten = 0;
  const batches = inBatches({ first: '', limit: BATCH }, (after) =>
    sql<Fields & { id: string }>`
      select id, ${sql.join(looked.map((column) => sql.ref(column)))}
      from ${sql.table(table)} where id > ${after} order by id limit ${BATCH}
    `.execute(trx),
  );
  for await (const rows of batches) {
    const treated = rows.flatMap(({ id, ...fields }) => {
      const changed = treatFields(rule, { table, id, fields, isStored: true });
      return changed === null ? [] : [{ id, treated: changed }];
    });
    if (treated.length > 0) {
      // Whoever loads by _changed_at must see that the row has other values now.
      await sql`
        update ${sql.table(table)} kept
        set ${sql.join(assign)}, _changed_at = (select stamp_changes())
        from jsonb_to_recordset(${storableJson(treated)}::jsonb) as fresh (id text, treated jsonb)
        where kept.id = fresh.id
      `.execute(trx);
    }
    rewritten += treated.length;
  }
  return rewritten;
}

/** Only what is treated is written: the rest may hold numbers that JavaScript cannot. */
function assignment(table: MirroredTable, column: string): RawBuilder<unknown> {
  const isJson = column === '_extra' || COLUMN_TYPES[table][column] === 'jsonb';
  const value = isJson
    ? sql`nullif(fresh.treated -> ${sql.lit(column)}, 'null'::jsonb)`
    : sql`fresh.treated ->> ${sql.lit(column)}`;
  return sql`${sql.ref(column)} = case when fresh.treated ? ${sql.lit(column)} then ${value} else kept.${sql.ref(column)} end`;
}

interface HistoryRow {
  readonly id: number;
  readonly table_name: MirroredTable;
  readonly record_id: string;
  /** Of the referral today: a change has the fields alone that changed, and a coupon is the affiliate's. */
  readonly affiliate_id: string | null;
  readonly before: Fields;
  readonly after: Fields;
}

async function rewriteHistory(trx: DatabaseTransaction, rule: Rule): Promise<number> {
  let rewritten = 0;
  const batches = inBatches({ first: 0, limit: BATCH }, (after) =>
    sql<HistoryRow>`
      select history.id, history.table_name, history.record_id, referral.affiliate_id, history.before, history.after
      from record_history history
      left join referrals referral on history.table_name = 'referrals' and referral.id = history.record_id
      where history.id > ${after} and history.before is not null order by history.id limit ${BATCH}
    `.execute(trx),
  );
  for await (const rows of batches) {
    const treated = rows.flatMap((row) => {
      const { table_name: table, record_id: id, affiliate_id } = row;
      const treat = (changed: Fields) =>
        treatFields(rule, { table, id, fields: { affiliate_id, ...changed }, isStored: true });
      const [before, later] = [treat(row.before), treat(row.after)];
      return before === null && later === null
        ? []
        : [{ id: row.id, before: before ?? {}, after: later ?? {} }];
    });
    if (treated.length > 0) {
      await sql`
        update record_history kept
        set before = kept.before || fresh.before, after = kept.after || fresh.after
        from jsonb_to_recordset(${storableJson(treated)}::jsonb) as fresh (id bigint, before jsonb, after jsonb)
        where kept.id = fresh.id
      `.execute(trx);
    }
    rewritten += treated.length;
  }
  return rewritten;
}

async function rewriteRejected(trx: DatabaseTransaction, rule: Rule, names: RegExp | null): Promise<number> {
  const { mode } = rule;
  let rewritten = 0;
  const batches = inBatches({ first: 0, limit: BATCH }, (after) =>
    sql<{ id: number; payload: string; text: string }>`
      select id, payload::text as payload, concat_ws(' ', record_id, reason, payload::text) as text
      from rejected_records where id > ${after} order by id limit ${BATCH}
    `.execute(trx),
  );
  for await (const rows of batches) {
    const named = rows.filter(({ payload, text }) => {
      if (isLeftOut(payload)) return false;
      return mode !== 'plain' || mentionsForgotten(rule, text) || names?.test(text) === true;
    });
    if (named.length > 0) {
      // The number keeps those without an identifier apart.
      await sql`
        update rejected_records
        set reason = ${mode === 'plain' ? LEFT_OUT.forgotten : LEFT_OUT[mode]},
            payload = json_build_object('id', record_id, 'left_out', 'rejection ' || id)
        where id = any(${named.map(({ id }) => id)}::bigint[])
      `.execute(trx);
    }
    rewritten += named.length;
  }
  return rewritten;
}

// In Node: the payload may hold what Postgres' own functions for JSON refuse.
function isLeftOut(payload: string): boolean {
  const value: unknown = JSON.parse(payload);
  return value !== null && typeof value === 'object' && Object.keys(value).join() === 'id,left_out';
}
