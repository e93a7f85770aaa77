// The latest run of each resource in figures, and how many runs ended how within a day. Reads the run log alone.

import { sql } from 'kysely';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import type { RunState } from '../db/tables.ts';

/** Shape: the names of the run log's columns. */
export interface LatestRun {
  readonly resource: string;
  readonly state: RunState;
  /** From its first start to its end, or to this moment while it runs. */
  readonly duration_seconds: number;
  readonly requests: number;
  readonly rows_inserted: number;
  readonly rows_updated: number;
  readonly rows_unchanged: number;
  readonly rows_rejected: number;
  readonly rows_deleted: number;
}

/** Returns the latest run of each resource that was not left to another process. */
export async function readLatestRuns(db: Database): Promise<LatestRun[]> {
  const { rows } = await sql<LatestRun>`
    select r.resource, last.*
    from unnest(${[...LISTED_RESOURCES]}::text[]) with ordinality as r (resource, place)
    cross join lateral (
      select state,
        extract(epoch from coalesce(finished_at, clock_timestamp()) - started_at)::float8 as duration_seconds,
        requests, rows_inserted, rows_updated, rows_unchanged, rows_rejected, rows_deleted
      from sync_runs s
      where s.resource = r.resource and s.state <> 'skipped'
      order by id desc limit 1
    ) last
    order by r.place
  `.execute(db);
  return rows;
}

export interface EndedRuns {
  readonly resource: string;
  readonly state: RunState;
  readonly runs: number;
}

/** Returns how many runs ended within the last 24 hours, by resource and state; none where it would be zero. */
export async function readRunsOfLastDay(db: Database): Promise<EndedRuns[]> {
  const { rows } = await sql<EndedRuns>`
    select resource, state, count(*) as runs from sync_runs
    where finished_at > clock_timestamp() - interval '24 hours'
    group by resource, state
    order by resource, state
  `.execute(db);
  return rows;
}
