// Measures every growing table: its size, its rows, and the rows added since a moment. Large tables are measured by a
// sample of their pages, so that the cost does not grow with them. Writes nothing.

import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { onlyRow } from '../db/only-row.ts';
import { bytes, count, text, timestamp } from './fields.ts';
import { type Reader, readFigure } from './figure.ts';

export const tableGrowth = z.object({
  table_name: text('a table'),
  rows: count('its rows, an estimate if it is large'),
  bytes: bytes('its size on disk with its indexes'),
  index_bytes: bytes('of that, the size of its indexes'),
  rows_per_day: z.number().nullable().describe('rows added per day since measured_since'),
  bytes_per_year: bytes('its growth in a year at this rate, without pruned rows').nullable(),
  keep_days: count(
    'retention of its rows in days; null: for ever, unless the table bounds itself (docs/retention.md)',
  ).nullable(),
  pruned_before: timestamp('rows from before this may have been pruned').nullable(),
});

export type TableGrowth = z.infer<typeof tableGrowth>;

export interface Measured extends Span {
  readonly tables: readonly TableGrowth[];
  /** The statement that gave the tables' figures. */
  readonly sql: string;
  /** When measuring began, by this machine's clock, as ISO 8601. */
  readonly asOf: string;
}

/** The time over which growth is measured, and the size at its end. */
interface Span {
  readonly now: Timestamp;
  readonly bytes: number;
  readonly since: Timestamp | null;
  /** Null if it is too short. */
  readonly days: number | null;
}

/** Every growing table, and the column with the time at which a row was added; null if it has none. */
const TABLES = {
  campaigns: '_first_seen_at',
  affiliates: '_first_seen_at',
  links: '_first_seen_at',
  referrals: '_first_seen_at',
  sales: '_first_seen_at',
  commissions: '_first_seen_at',
  payouts: '_first_seen_at',
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
const LEAST_DAYS = 1;
/** The most pages to read of a table, 8 kB each: a smaller table is counted exactly. */
const MOST_PAGES = 1000;
export const DAYS_PER_YEAR = 365;

type TableName = keyof typeof TABLES;

/** Units: bytes; days are 24 hours. */
export async function measureTables(reader: Reader): Promise<Measured> {
  const asOf = new Date().toISOString();
  const span = await readSpan(reader);
  const sizes = await readSizes(reader);
  const figure = await readFigure(reader, measuring(reader, sizes, span));
  const tables = figure.rows.map((row) => {
    const size = sizes.find(({ table_name }) => table_name === row.table_name);
    return { ...row, keep_days: size?.keep_days ?? null, pruned_before: size?.pruned_before ?? null };
  });
  return { ...span, tables, sql: figure.sql, asOf };
}

// The first load of a resource is no growth: the span begins after all first loads.
async function readSpan({ db }: Reader): Promise<Span> {
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

async function readSizes({ db }: Reader): Promise<readonly Size[]> {
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

type MeasuredRow = Omit<TableGrowth, 'keep_days' | 'pruned_before'>;

// The rows of a year are taken to be as large as the present ones on average.
function measuring(
  { mirrorSchema }: Reader,
  sizes: readonly Size[],
  { since, days }: Pick<Span, 'since' | 'days'>,
): RawBuilder<MeasuredRow> {
  const samples = sizes.map((size) => sample(size, since, `"${mirrorSchema}".${size.table_name}`));
  return sql<MeasuredRow>`
    select table_name, rows, pg_total_relation_size(relation) as bytes,
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

// The seed is fixed, so that an unchanged table has the same figures again.
function sample(
  { table_name, pages, keep_days, pruned_before }: Size,
  since: Timestamp | null,
  spelled: string,
): RawBuilder<unknown> {
  const column = TABLES[table_name];
  const share = Math.min(1, MOST_PAGES / Math.max(pages, 1));
  // A pruned table grows by the rows that stay: as many as are left of a span just beyond the age.
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

/** Rows that last for minutes. */
function isShortLived(table: TableName): boolean {
  return table === 'request_permits';
}
