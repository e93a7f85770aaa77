// Measures every table that grows: its size, its rows, and how many of them were added since a moment. Large tables are
// measured by a sample of their pages, so that asking costs the same however large they are. Writes nothing.

import { type RawBuilder, sql } from 'kysely';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

export interface TableGrowth {
  readonly table_name: string;
  /** An estimate where the table is large. */
  readonly rows: number;
  /** On disk, with indexes and what is kept out of line. */
  readonly bytes: number;
  /** Of them, those of the indexes. */
  readonly index_bytes: number;
  /** Added per day since `measured_since`; null where that is not known (yet). */
  readonly rows_per_day: number | null;
  /** What it gains in a year at this rate, without what is pruned. */
  readonly bytes_per_year: number | null;
  /** How many days its rows are kept, as the last worker was configured; null: without a setting. */
  readonly keep_days: number | null;
  /** Rows from before this moment may have been pruned; null where none was. */
  readonly pruned_before: Timestamp | null;
}

export interface Measured extends Span {
  readonly tables: readonly TableGrowth[];
  /** What gave the sizes, rows and rates of the tables. */
  readonly query: RawBuilder<unknown>;
}

/** The time over which growth is measured, and what there is at its end. */
interface Span {
  readonly now: Timestamp;
  readonly bytes: number;
  readonly since: Timestamp | null;
  /** Null where it is too short. */
  readonly days: number | null;
}

/** Every table that grows, and the column that says when a row was added; null where none does. */
const TABLES = {
  campaigns: '_first_seen_at',
  affiliates: '_first_seen_at',
  links: '_first_seen_at',
  referrals: '_first_seen_at',
  sales: '_first_seen_at',
  commissions: '_first_seen_at',
  record_history: 'recorded_at',
  sync_runs: 'started_at',
  rejected_records: 'observed_at',
  schema_drift: null,
  held_back_deletions: 'held_back_at',
  covered_counters: null,
  seen_rows: null,
  tracked_commissions: 'tracked_at',
  commission_updates: 'requested_at',
  commission_update_attempts: 'sent_at',
  alerts: 'noticed_at',
  alert_notices: 'made_at',
  request_permits: 'granted_at',
} as const satisfies Readonly<Record<string, string | null>>;

const SPAN_DAYS = 30;
/** A shorter time says nothing about a day. */
const LEAST_DAYS = 1;
/** Of each table at most so many pages are read, 8 kB each: a table below that is counted exactly. */
const MOST_PAGES = 1000;
export const DAYS_PER_YEAR = 365;

type TableName = keyof typeof TABLES;

/**
 * Returns what was measured. Units: bytes; days are 24 hours. `spell` returns the name of a table as the statement has
 * it; it is found by the search path where it is left out.
 */
export async function measureTables(
  db: Database,
  spell: (table: TableName) => string = (table) => table,
): Promise<Measured> {
  const span = await readSpan(db);
  const sizes = await readSizes(db);
  const query = measuring(sizes, span, spell);
  const { rows } = await query.execute(db);
  const tables = rows.map(({ heap_bytes: _heap, ...row }) => {
    const size = sizes.find(({ table_name }) => table_name === row.table_name);
    return { ...row, keep_days: size?.keep_days ?? null, pruned_before: size?.pruned_before ?? null };
  });
  return { ...span, tables, query };
}

// What the first load of a resource brings is no growth: the span begins after all of them.
async function readSpan(db: Database): Promise<Span> {
  const answer = await sql<Omit<Span, 'days'> & { days: number | null }>`
    with loaded as (
      select max(first.at) as at
      from unnest(${[...LISTED_RESOURCES]}::text[]) as listed (resource)
      cross join lateral (
        select finished_at as at from sync_runs
        where resource = listed.resource and verified order by finished_at limit 1
      ) first
    )
    select clock_timestamp() as now, pg_database_size(current_database()) as bytes, since,
      extract(epoch from clock_timestamp() - since)::float8 / 86400 as days
    from (
      select case when at is not null
        then greatest(at, clock_timestamp() - make_interval(days => ${SPAN_DAYS})) end as since
      from loaded
    ) span`.execute(db);
  const row = onlyRow(answer, 'the size of the database');
  return { ...row, days: row.days === null || row.days < LEAST_DAYS ? null : row.days };
}

interface Size extends Pick<TableGrowth, 'keep_days' | 'pruned_before'> {
  readonly table_name: TableName;
  readonly pages: number;
}

async function readSizes(db: Database): Promise<readonly Size[]> {
  const { rows } = await sql<Size>`
    select named.table_name, pg_relation_size(relation) / current_setting('block_size')::int as pages,
      pruned.keep_days, pruned.pruned_before
    from unnest(${Object.keys(TABLES)}::text[]) as named (table_name)
    cross join lateral (select named.table_name::regclass as relation) found
    left join pruned_tables pruned on pruned.table_name = named.table_name
    -- A standby has nothing of tables that are not logged, and refuses to read them.
    where not pg_is_in_recovery() or (select relpersistence from pg_class where oid = relation) <> 'u'`.execute(
    db,
  );
  return rows;
}

interface MeasuredRow extends Omit<TableGrowth, 'keep_days' | 'pruned_before'> {
  readonly heap_bytes: number;
}

// A row lasts as the rows of its table do on average: what a year brings is as large as what is there.
function measuring(
  sizes: readonly Size[],
  { since, days }: Pick<Span, 'since' | 'days'>,
  spell: (table: TableName) => string,
): RawBuilder<MeasuredRow> {
  const samples = sizes.map((size) => sample(size, since, spell(size.table_name)));
  return sql<MeasuredRow>`
    select table_name, rows, pg_total_relation_size(relation) as bytes, pg_table_size(relation) as heap_bytes,
      pg_indexes_size(relation) as index_bytes, added / ${days}::float8 as rows_per_day,
      stayed / ${days}::float8 * ${DAYS_PER_YEAR}::int * pg_total_relation_size(relation) / greatest(rows, 1)
        as bytes_per_year
    from (
      select table_name, relation, round(counted / share)::bigint as rows, added / share as added, stayed / share as stayed
      from (
        ${sql.join(
          samples,
          sql`
        union all
        `,
        )}
      ) sampled
    ) measured
    order by bytes desc, table_name`;
}

// The seed is fixed: asked again, an unchanged table has the same figures.
function sample(
  { table_name, pages, keep_days, pruned_before }: Size,
  since: Timestamp | null,
  spelled: string,
): RawBuilder<unknown> {
  const column = TABLES[table_name];
  const share = Math.min(1, MOST_PAGES / Math.max(pages, 1));
  // Where old rows are pruned, a table gains what stays all the same: as much as is left of a time just beyond the age.
  const age = pruned_before === null ? 0 : (keep_days ?? 0);
  const countSince = (days: number): RawBuilder<unknown> => {
    if (column === null || since === null) return sql`null::bigint`;
    const at = days === 0 ? sql.ref(column) : sql`${sql.ref(column)} + make_interval(days => ${days}::int)`;
    return sql`count(*) filter (where ${at} >= ${since}::timestamptz and ${at} <= clock_timestamp())`;
  };
  const stayed = isShortLived(table_name) ? sql`0` : countSince(age);
  return sql`select ${table_name}::text as table_name, ${spelled}::regclass as relation, ${share}::float8 as share,
          count(*) as counted, ${countSince(0)} as added, ${stayed} as stayed
        from ${sql.raw(spelled)} tablesample system (${share * 100}::float8) repeatable (1)`;
}

/** Its rows last for minutes. */
function isShortLived(table: TableName): boolean {
  return table === 'request_permits';
}
