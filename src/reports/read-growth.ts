// How large the mirror is, how fast it grows, and when it would be full at this rate. Large tables are measured by a
// sample of their pages, so that asking costs the same however large they are. Writes nothing.

import { type RawBuilder, sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';

/** What the database may grow into: read by whoever knows. */
export type DiskSpace =
  /** DATABASE_SIZE_LIMIT: what the whole database may become. */
  | { readonly source: 'limit'; readonly limitBytes: number }
  /** The file system that holds the embedded Postgres, which others may use too. */
  | { readonly source: 'file_system'; readonly freeBytes: number };

export interface TableGrowth {
  readonly table_name: string;
  /** An estimate where the table is large. */
  readonly rows: number;
  /** On disk, with indexes and what is kept out of line. */
  readonly bytes: number;
  /** Added per day since `measured_since`; null where that is not known (yet). */
  readonly rows_per_day: number | null;
  /** What it gains in a year at this rate, without what is pruned. */
  readonly bytes_per_year: number | null;
  /** How many days its rows are kept, as the last worker was configured; null: for ever. */
  readonly keep_days: number | null;
  /** Rows from before this moment may have been pruned; null where none was. */
  readonly pruned_before: Timestamp | null;
}

/**
 * Shape: `tables` is ordered by size, the largest first; `bytes` is the whole database, with the queue and with what
 * else is in it, so it is more than their sum.
 */
export interface Growth {
  readonly tables: readonly TableGrowth[];
  readonly bytes: number;
  /** Null while it is not known. */
  readonly bytes_per_year: number | null;
  /** From when on the rows were counted: 30 days ago, or later where the first load was. Null before there was one. */
  readonly measured_since: Timestamp | null;
  readonly disk: {
    /** Where the space is known from; null where it is not. */
    readonly source: DiskSpace['source'] | null;
    /** What is left; below zero where the limit is exceeded. */
    readonly free_bytes: number | null;
    /** When nothing is left at this rate; null where that is not known, or it does not grow. */
    readonly full_at: Timestamp | null;
    readonly full_in_days: number | null;
  };
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

const WINDOW_DAYS = 30;
/** A shorter time says nothing about a day. */
const LEAST_DAYS = 1;
/** Of each table at most so many pages are read, 8 kB each: a table below that is counted exactly. */
const MOST_PAGES = 1000;
const DAYS_PER_YEAR = 365;
/** No date is named that is further away: the rate will have changed by then. */
const FARTHEST_DAYS = 3650;

/**
 * Returns the growth at this moment. `space` is null where nobody knows what is free.
 *
 * Units: bytes; days are 24 hours.
 */
export async function readGrowth(
  db: Database,
  { space }: { readonly space: DiskSpace | null },
): Promise<Growth> {
  const { now, bytes, since, days } = await readWindow(db);
  const sizes = await readSizes(db);
  const tables: TableGrowth[] = [];
  for (const size of sizes) tables.push(await measure(db, size, { since, days }));
  const known = tables.flatMap(({ bytes_per_year }) => bytes_per_year ?? []);
  const perYear = days === null ? null : known.reduce((sum, each) => sum + each, 0);
  return {
    tables,
    bytes,
    bytes_per_year: perYear,
    measured_since: days === null ? null : since,
    disk: judgeDisk(space, { nowMs: Date.parse(now), bytes, perYear }),
  };
}

interface Window {
  readonly now: Timestamp;
  readonly bytes: number;
  readonly since: Timestamp | null;
  /** Null where it is too short. */
  readonly days: number | null;
}

// What the first load of a resource brings is no growth: the window begins after all of them.
async function readWindow(db: Database): Promise<Window> {
  const { rows } = await sql<Omit<Window, 'days'> & { days: number | null }>`
    with loaded as (
      select max(first.at) as at
      from (values ('affiliates'), ('referrals'), ('commissions')) as listed (resource)
      cross join lateral (
        select finished_at as at from sync_runs
        where resource = listed.resource and verified order by finished_at limit 1
      ) first
    )
    select clock_timestamp() as now, pg_database_size(current_database()) as bytes, since,
      extract(epoch from clock_timestamp() - since)::float8 / 86400 as days
    from (
      select case when at is not null
        then greatest(at, clock_timestamp() - make_interval(days => ${WINDOW_DAYS})) end as since
      from loaded
    ) window_of_time`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new TypeError('a select returned no row');
  return { ...row, days: row.days === null || row.days < LEAST_DAYS ? null : row.days };
}

interface Size extends Pick<TableGrowth, 'bytes' | 'keep_days' | 'pruned_before'> {
  readonly table_name: keyof typeof TABLES;
  readonly pages: number;
}

async function readSizes(db: Database): Promise<readonly Size[]> {
  const { rows } = await sql<Size>`
    select named.table_name, pg_total_relation_size(relation) as bytes,
      pg_relation_size(relation) / current_setting('block_size')::int as pages,
      pruned.keep_days, pruned.pruned_before
    from unnest(${Object.keys(TABLES)}::text[]) as named (table_name)
    cross join lateral (select named.table_name::regclass as relation) found
    left join pruned_tables pruned on pruned.table_name = named.table_name
    -- A standby has nothing of tables that are not logged, and refuses to read them.
    where not pg_is_in_recovery() or (select relpersistence from pg_class where oid = relation) <> 'u'
    order by bytes desc, named.table_name`.execute(db);
  return rows;
}

async function measure(
  db: Database,
  { table_name, bytes, pages, keep_days, pruned_before }: Size,
  { since, days }: Pick<Window, 'since' | 'days'>,
): Promise<TableGrowth> {
  const column = TABLES[table_name];
  const share = Math.min(1, MOST_PAGES / Math.max(pages, 1));
  // Where old rows are pruned, a table gains what stays all the same: as much as is left of a time just beyond the age.
  const age = pruned_before === null ? 0 : (keep_days ?? 0);
  const countSince = (days: number): RawBuilder<number> => {
    if (column === null || since === null) return sql`0::bigint`;
    const at = sql`${sql.ref(column)} + make_interval(days => ${days}::int)`;
    return sql`count(*) filter (where ${at} >= ${since} and ${at} <= clock_timestamp())`;
  };
  // The seed is fixed: asked again, an unchanged table has the same figures.
  const { rows } = await sql<{ counted: number; added: number; stayed: number }>`
    select count(*) as counted, ${countSince(0)} as added, ${countSince(age)} as stayed
    from ${sql.table(table_name)} tablesample system (${share * 100}::float8) repeatable (1)`.execute(db);
  const sampled = rows[0] ?? { counted: 0, added: 0, stayed: 0 };
  const count = Math.round(sampled.counted / share);
  const isKnown = column !== null && days !== null;
  const staysPerDay = isKnown && !isShortLived(table_name) ? sampled.stayed / share / days : 0;
  return {
    table_name,
    rows: count,
    bytes,
    rows_per_day: isKnown ? sampled.added / share / days : null,
    bytes_per_year: isKnown ? (staysPerDay * DAYS_PER_YEAR * bytes) / Math.max(count, 1) : null,
    keep_days,
    pruned_before,
  };
}

/** Its rows last for minutes. */
function isShortLived(table: keyof typeof TABLES): boolean {
  return table === 'request_permits';
}

function judgeDisk(
  space: DiskSpace | null,
  { nowMs, bytes, perYear }: { nowMs: number; bytes: number; perYear: number | null },
): Growth['disk'] {
  if (space === null) return { source: null, free_bytes: null, full_at: null, full_in_days: null };
  const free = space.source === 'limit' ? space.limitBytes - bytes : space.freeBytes;
  const perDay = (perYear ?? 0) / DAYS_PER_YEAR;
  const inDays = free <= 0 ? 0 : perDay > 0 ? free / perDay : Number.POSITIVE_INFINITY;
  const isKnown = inDays <= FARTHEST_DAYS;
  return {
    source: space.source,
    free_bytes: free,
    full_at: isKnown ? new Date(nowMs + inDays * 86_400_000).toISOString() : null,
    full_in_days: isKnown ? inDays : null,
  };
}
