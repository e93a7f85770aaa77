// The row types of the tables for which Kysely builds statements, with values as the pool returns them: bigint as
// number, timestamptz as ISO 8601 text. All other statements are SQL, with the types of their rows.

import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';

export type RunMode = 'full' | 'delta';
export type RunState = 'running' | 'succeeded' | 'partial' | 'failed' | 'interrupted' | 'skipped';

export interface SyncRunsTable {
  id: Generated<number>;
  resource: string;
  mode: RunMode;
  state: Generated<RunState>;
  requests: Generated<number>;
  pages: Generated<number>;
  rows_seen: Generated<number>;
  rows_inserted: Generated<number>;
  rows_updated: Generated<number>;
  rows_unchanged: Generated<number>;
  rows_rejected: Generated<number>;
  rows_repeated: Generated<number>;
  rows_deleted: Generated<number>;
  deletes_held_back: Generated<number>;
  total_upstream: number | null;
  distinct_seen: Generated<number>;
  verified: Generated<boolean>;
  plan: JSONColumnType<object> | null;
  reads_everything: ColumnType<boolean, never, never>;
  checkpoint: JSONColumnType<object> | null;
  error_code: string | null;
  error: string | null;
  attempt: Generated<number>;
  started_at: Generated<Timestamp>;
  heartbeat_at: Generated<Timestamp>;
  finished_at: Timestamp | null;
  failed_at: Timestamp | null;
  unanswered_since: Timestamp | null;
  unanswered_attempt: number | null;
}

interface SeenRowsTable {
  run_id: number;
  row_numbers: number[];
  rejected_ids: string[];
  unnamed_links: { id: string; affiliateId: string; observedAt: string }[];
}

export interface SchemaDriftTable {
  run_id: number;
  resource: string;
  field: string;
  kind: 'appeared' | 'vanished' | 'retyped';
  found: string | null;
  occurrences: number;
}

export interface Tables {
  sync_runs: SyncRunsTable;
  seen_rows: SeenRowsTable;
  schema_drift: SchemaDriftTable;
}
