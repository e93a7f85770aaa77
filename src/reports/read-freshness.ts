// How fresh each resource is, when everything of it was last read, and what speaks against trusting it. Reads the run
// log and what it held back.

import { sql } from 'kysely';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { RunState } from '../db/tables.ts';
import { READS_EVERYTHING } from '../mirror/runs/whole-runs.ts';

export interface ResourceStatus {
  readonly resource: string;
  /** The mirror is at least as new as this, but for held-back deletions: the start of the last verified run. Null: never. */
  readonly fresh_as_of: Timestamp | null;
  readonly age_seconds: number | null;
  /** The same, but for what a delta cannot see: the start of the last verified run that read everything. */
  readonly full_as_of: Timestamp | null;
  readonly full_age_seconds: number | null;
  readonly deltas_since_full: number;
  /** Of the last run that was not left to another process; null where there was none. */
  readonly last_state: RunState | null;
  readonly last_verified: boolean | null;
  readonly last_error_code: string | null;
  readonly last_error: string | null;
  /** When it ended; null while it runs. */
  readonly last_finished_at: Timestamp | null;
  /** When it last saved its progress, and how long ago that is. */
  readonly last_saved_at: Timestamp | null;
  readonly last_saved_age_seconds: number | null;
  /** The most that one run rejected, since and including the last that read everything. */
  readonly rejected_records: number;
  /** When the first of those runs began that rejected any. */
  readonly rejected_since: Timestamp | null;
  /** Rows that the last verified run that read everything did not meet and that are not marked deleted. */
  readonly deletes_held_back: number;
  /** Since when there are some that nobody accepted. */
  readonly deletes_held_back_since: Timestamp | null;
  /** Those of them that somebody accepted: the next run that reads everything marks what is still missing. */
  readonly deletes_accepted: number;
}

/** Returns the freshness of each listed resource at this moment; of commissions where the program lists them. */
export async function readFreshness(db: Database): Promise<ResourceStatus[]> {
  const { rows } = await sql<ResourceStatus>`
    select r.resource,
      fresh.started_at as fresh_as_of,
      extract(epoch from clock_timestamp() - fresh.started_at)::float8 as age_seconds,
      whole.started_at as full_as_of,
      extract(epoch from clock_timestamp() - whole.started_at)::float8 as full_age_seconds,
      coalesce(deltas.count, 0) as deltas_since_full,
      last.state as last_state,
      last.verified as last_verified,
      last.error_code as last_error_code,
      last.error as last_error,
      last.finished_at as last_finished_at,
      last.heartbeat_at as last_saved_at,
      extract(epoch from clock_timestamp() - last.heartbeat_at)::float8 as last_saved_age_seconds,
      coalesce(since.rows_rejected, 0) as rejected_records,
      since.rejected_since,
      held.held_back as deletes_held_back,
      held.held_back_since as deletes_held_back_since,
      held.accepted as deletes_accepted
    from unnest(${[...LISTED_RESOURCES]}::text[]) with ordinality as r (resource, place)
    left join lateral (
      select * from sync_runs s where s.resource = r.resource and s.verified order by id desc limit 1
    ) fresh on true
    left join lateral (
      select * from sync_runs s where s.resource = r.resource and s.verified and ${READS_EVERYTHING}
      order by id desc limit 1
    ) whole on true
    left join lateral (
      select count(*) as count from sync_runs s
      where s.resource = r.resource and s.verified and not ${READS_EVERYTHING} and s.id > coalesce(whole.id, 0)
    ) deltas on true
    left join lateral (
      select * from sync_runs s where s.resource = r.resource and s.state <> 'skipped' order by id desc limit 1
    ) last on true
    left join lateral (
      select * from sync_runs s
      where s.resource = r.resource and s.state in ('succeeded', 'partial') and ${READS_EVERYTHING}
      order by id desc limit 1
    ) ended on true
    left join lateral (
      select max(rows_rejected) as rows_rejected, min(started_at) filter (where rows_rejected > 0) as rejected_since
      from sync_runs s
      where s.resource = r.resource and s.state in ('succeeded', 'partial') and s.id >= coalesce(ended.id, 0)
    ) since on true
    cross join lateral (
      select count(*) as held_back, count(accepted_at) as accepted,
        min(held_back_at) filter (where accepted_at is null) as held_back_since
      from held_back_deletions h where h.resource = r.resource
    ) held
    where r.resource <> 'commissions' or (select is_used from commission_list)
    order by r.place
  `.execute(db);
  return rows;
}
