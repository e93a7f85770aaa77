// How the mirror stands: how fresh each resource is, what the last runs did, what was not stored, what is left of
// the budget. Reads only the mirror's own tables; asks the program nothing.

import { sql } from 'kysely';
import type { Instant } from '../api/slot.ts';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import { type BudgetStatus, readBudget } from './read-budget.ts';

/** Shape: the names that the ledger's columns have (sync_runs), so that SQL and this agree. */
export interface MirrorStatus {
  readonly resources: readonly ResourceStatus[];
  readonly tables: readonly TableStatus[];
  /** Newest first. */
  readonly last_runs: readonly RunStatus[];
  /** What the last run of each resource that came to its end noticed. */
  readonly schema_drift: readonly DriftStatus[];
  readonly budget: BudgetStatus;
}

export interface ResourceStatus {
  readonly resource: string;
  /** The mirror is at least as new as this: the start of the last run that succeeded. Null: never. */
  readonly fresh_as_of: Instant | null;
  readonly age_seconds: number | null;
  readonly last_state: string | null;
  /** Of the last run that came to its end. */
  readonly rejected_records: number;
  readonly deletes_held_back: number;
}

export interface TableStatus {
  readonly table_name: string;
  readonly rows: number;
  /** Rows that are gone upstream, and kept here. */
  readonly deleted: number;
}

export interface RunStatus {
  readonly id: number;
  readonly resource: string;
  readonly mode: string;
  readonly state: string;
  readonly started_at: Instant;
  readonly finished_at: Instant | null;
  readonly requests: number;
  readonly rows_seen: number;
  readonly rows_inserted: number;
  readonly rows_updated: number;
  readonly rows_unchanged: number;
  readonly rows_rejected: number;
  readonly rows_deleted: number;
  readonly deletes_held_back: number;
  readonly verified: boolean;
  readonly error_code: string | null;
  readonly error: string | null;
}

export interface DriftStatus {
  readonly run_id: number;
  readonly resource: string;
  readonly field: string;
  readonly kind: string;
  readonly found: string | null;
  readonly occurrences: number;
}

const LAST_RUNS = 10;
const TABLES = ['campaigns', 'affiliates', 'links', 'referrals', 'sales', 'commissions'] as const;

/** Gives back the status at this moment. */
export async function readStatus(db: Database): Promise<MirrorStatus> {
  return {
    resources: await readResources(db),
    tables: await readTables(db),
    last_runs: await readLastRuns(db),
    schema_drift: await readDrift(db),
    budget: await readBudget(db),
  };
}

async function readResources(db: Database): Promise<ResourceStatus[]> {
  const { rows } = await sql<ResourceStatus>`
    select r.resource, fresh.started_at as fresh_as_of,
      extract(epoch from clock_timestamp() - fresh.started_at)::float8 as age_seconds,
      last.state as last_state,
      coalesce(ended.rows_rejected, 0) as rejected_records,
      coalesce(ended.deletes_held_back, 0) as deletes_held_back
    from unnest(${[...LISTED_RESOURCES]}::text[]) with ordinality as r (resource, place)
    left join lateral (
      select * from sync_runs s where s.resource = r.resource and s.state = 'succeeded' order by id desc limit 1
    ) fresh on true
    left join lateral (
      select * from sync_runs s where s.resource = r.resource order by id desc limit 1
    ) last on true
    left join lateral (
      select * from sync_runs s where s.resource = r.resource and s.state in ('succeeded', 'partial')
      order by id desc limit 1
    ) ended on true
    order by r.place
  `.execute(db);
  return rows;
}

async function readTables(db: Database): Promise<TableStatus[]> {
  const counts = TABLES.map(
    (table) => sql`
      select ${table}::text as table_name, count(*) filter (where _deleted_at is null) as rows,
        count(*) filter (where _deleted_at is not null) as deleted
      from ${sql.table(table)}`,
  );
  const { rows } = await sql<TableStatus>`${sql.join(counts, sql` union all `)}`.execute(db);
  return rows;
}

async function readLastRuns(db: Database): Promise<RunStatus[]> {
  return await db
    .selectFrom('sync_runs')
    .select([
      'id',
      'resource',
      'mode',
      'state',
      'started_at',
      'finished_at',
      'requests',
      'rows_seen',
      'rows_inserted',
      'rows_updated',
      'rows_unchanged',
      'rows_rejected',
      'rows_deleted',
      'deletes_held_back',
      'verified',
      'error_code',
      'error',
    ])
    .orderBy('id', 'desc')
    .limit(LAST_RUNS)
    .execute();
}

async function readDrift(db: Database): Promise<DriftStatus[]> {
  return await db
    .selectFrom('schema_drift')
    .select(['run_id', 'resource', 'field', 'kind', 'found', 'occurrences'])
    .where('run_id', 'in', (query) =>
      query
        .selectFrom('sync_runs')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('state', 'in', ['succeeded', 'partial'])
        .groupBy('resource'),
    )
    .orderBy('resource')
    .orderBy('field')
    .orderBy('kind')
    .execute();
}
