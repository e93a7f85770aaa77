// How fresh each resource is, when everything of it was last read, and what speaks against trusting it: the report
// freshness.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { RunState } from '../db/tables.ts';

export interface ResourceStatus {
  readonly resource: string;
  /**
   * The mirror is at least as new as this, but for held-back deletions: the start of the last verified run. Null:
   * never.
   */
  readonly changes_as_of: Timestamp | null;
  readonly changes_age_seconds: number | null;
  /** The same, but for what a delta cannot see: the start of the last verified run that read everything. */
  readonly everything_as_of: Timestamp | null;
  readonly everything_age_seconds: number | null;
  readonly deltas_since_everything: number;
  /** Of the last run that was not left to another process; null where there was none. */
  readonly last_run_state: RunState | null;
  readonly last_run_verified: boolean | null;
  readonly last_run_error_code: string | null;
  readonly last_run_error: string | null;
  /** When it ended; null while it runs. */
  readonly last_run_finished_at: Timestamp | null;
  /** When it last saved its progress, and how long ago that is. */
  readonly last_run_saved_at: Timestamp | null;
  readonly last_run_saved_age_seconds: number | null;
  /** The most that one run rejected, since and including the last that read everything. */
  readonly rejected_records: number;
  /** When the first of those runs began that rejected any. */
  readonly rejected_since: Timestamp | null;
  /** Rows that the last verified run that read everything did not meet and that are not marked deleted. */
  readonly deletions_held_back: number;
  /** Since when there are some that nobody accepted. */
  readonly deletions_held_back_since: Timestamp | null;
  /** Those of them that somebody accepted: the next run that reads everything marks what is still missing. */
  readonly deletions_accepted: number;
}

/** Returns the freshness of each listed resource at this moment; of optional lists those that the program has. */
export async function readFreshness(db: Database): Promise<ResourceStatus[]> {
  const { rows } = await sql<ResourceStatus>`
    select resource, changes_as_of, changes_age_seconds, everything_as_of, everything_age_seconds,
      deltas_since_everything, last_run_state, last_run_verified, last_run_error_code, last_run_error,
      last_run_finished_at, last_run_saved_at, last_run_saved_age_seconds, rejected_records, rejected_since,
      deletions_held_back, deletions_held_back_since, deletions_accepted
    from freshness
    where resource not in (select resource from optional_lists where not is_used)
  `.execute(db);
  return rows;
}
