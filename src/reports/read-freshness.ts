// How fresh each resource is, when everything of it was last read, and what speaks against trusting it. Reads the run
// log only.

import { sql } from 'kysely';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { READS_EVERYTHING } from '../mirror/runs/whole-runs.ts';

export interface ResourceStatus {
  readonly resource: string;
  /** The mirror is at least as new as this: the start of the last run that succeeded. Null: never. */
  readonly fresh_as_of: Timestamp | null;
  readonly age_seconds: number | null;
  /** The same, but for what a delta cannot see: the start of the last run that succeeded and read everything. */
  readonly full_as_of: Timestamp | null;
  readonly full_age_seconds: number | null;
  readonly deltas_since_full: number;
  readonly last_state: string | null;
  /** The most that one run rejected, since and including the last that read everything. */
  readonly rejected_records: number;
  /** By the last run that read everything: a delta looks for no deletion. */
  readonly deletes_held_back: number;
}

/** Returns the freshness of each listed resource at this moment. */
export async function readFreshness(db: Database): Promise<ResourceStatus[]> {
  const { rows } = await sql<ResourceStatus>`
    select r.resource,
      fresh.started_at as fresh_as_of,
      extract(epoch from clock_timestamp() - fresh.started_at)::float8 as age_seconds,
      whole.started_at as full_as_of,
      extract(epoch from clock_timestamp() - whole.started_at)::float8 as full_age_seconds,
      coalesce(deltas.count, 0) as deltas_since_full,
      last.state as last_state,
      coalesce(since.rows_rejected, 0) as rejected_records,
      coalesce(ended.deletes_held_back, 0) as deletes_held_back
    from unnest(${[...LISTED_RESOURCES]}::text[]) with ordinality as r (resource, place)
    left join lateral (
      select * from sync_runs s where s.resource = r.resource and s.state = 'succeeded' order by id desc limit 1
    ) fresh on true
    left join lateral (
      select * from sync_runs s where s.resource = r.resource and s.state = 'succeeded' and ${READS_EVERYTHING}
      order by id desc limit 1
    ) whole on true
    left join lateral (
      select count(*) as count from sync_runs s
      where s.resource = r.resource and s.state = 'succeeded' and not ${READS_EVERYTHING} and s.id > coalesce(whole.id, 0)
    ) deltas on true
    left join lateral (
      select * from sync_runs s where s.resource = r.resource order by id desc limit 1
    ) last on true
    left join lateral (
      select * from sync_runs s
      where s.resource = r.resource and s.state in ('succeeded', 'partial') and ${READS_EVERYTHING}
      order by id desc limit 1
    ) ended on true
    left join lateral (
      select max(rows_rejected) as rows_rejected from sync_runs s
      where s.resource = r.resource and s.state in ('succeeded', 'partial') and s.id >= coalesce(ended.id, 0)
    ) since on true
    order by r.place
  `.execute(db);
  return rows;
}
