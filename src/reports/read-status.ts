// The mirror's status: how fresh each resource is, what the last runs did, what was not stored, what is left of the
// budget. Reads only the mirror's own tables; sends no request.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { RunMode, RunState, SchemaDriftTable } from '../db/tables.ts';
import { LOAD_ORDER } from '../records/mirrored-tables.ts';
import { type MirrorHealth, readHealth } from './read-health.ts';
import { readTracked, type TrackedStatus } from './read-tracked.ts';

/** Shape: the names that the run log's columns have (sync_runs), so that SQL and this agree. */
export interface MirrorStatus extends MirrorHealth {
  readonly tables: readonly TableStatus[];
  readonly tracked_commissions: TrackedStatus;
  /** Newest first. */
  readonly last_runs: readonly RunStatus[];
  /** What was noticed since and including the last run of each resource that read everything. */
  readonly schema_drift: readonly DriftStatus[];
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
  readonly mode: RunMode;
  readonly state: RunState;
  readonly started_at: Timestamp;
  readonly finished_at: Timestamp | null;
  readonly requests: number;
  readonly rows_seen: number;
  readonly rows_inserted: number;
  readonly rows_updated: number;
  readonly rows_unchanged: number;
  readonly rows_rejected: number;
  /** Records that the run read again, such as the head of the list at its end; part of rows_seen. */
  readonly rows_repeated: number;
  readonly rows_deleted: number;
  readonly deletes_held_back: number;
  readonly verified: boolean;
  /** What a delta set out to do, and what it expected that to cost; null for other runs. */
  readonly plan: object | null;
  readonly error_code: string | null;
  readonly error: string | null;
}

export interface DriftStatus {
  readonly run_id: number;
  readonly resource: string;
  readonly field: string;
  readonly kind: SchemaDriftTable['kind'];
  readonly found: string | null;
  readonly occurrences: number;
}

const LAST_RUNS = 10;

/** Returns the status at this moment. */
export async function readStatus(db: Database): Promise<MirrorStatus> {
  return {
    ...(await readHealth(db)),
    tables: await readTables(db),
    tracked_commissions: await readTracked(db),
    last_runs: await readLastRuns(db),
    schema_drift: await readDrift(db),
  };
}

async function readTables(db: Database): Promise<TableStatus[]> {
  const { rows } = await sql<TableStatus>`
    select table_name, rows, deleted from table_rows
    order by array_position(${[...LOAD_ORDER]}::text[], table_name)`.execute(db);
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
      'rows_repeated',
      'rows_deleted',
      'deletes_held_back',
      'verified',
      'plan',
      'error_code',
      'error',
    ])
    .orderBy('id', 'desc')
    .limit(LAST_RUNS)
    .execute();
}

/** Returns what was noticed since and including the last run of each resource that read everything. */
export async function readDrift(db: Database): Promise<DriftStatus[]> {
  const { rows } = await sql<DriftStatus>`
    select run_id, resource, field, kind, found, occurrences from contract_drift
    order by resource, field, kind`.execute(db);
  return rows;
}
