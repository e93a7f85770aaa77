// Asks the run log which runs read all of their resource, whatever their mode, and whether one ran since.

import { sql } from 'kysely';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import type { RunMode } from '../../db/tables.ts';

/** A condition on sync_runs: a delta of affiliates reads all of them; one of referrals does where that costs no more. */
export const READS_EVERYTHING = sql<boolean>`(mode = 'full' or resource = 'affiliates' or plan ->> 'strategy' = 'full')`;

/** Returns whether everything of the resource was ever read, and verified. */
export async function wasEverRead(db: Database, resource: string): Promise<boolean> {
  const { rows } = await sql`
    select from sync_runs where resource = ${resource} and state = 'succeeded' and ${READS_EVERYTHING} limit 1
  `.execute(db);
  return rows.length > 0;
}

/** Returns whether a run of the resource, of this mode or a full one, has ended since then. */
export async function hasRunSince(
  db: Database,
  { resource, mode }: { resource: string; mode: RunMode },
  since: Timestamp,
): Promise<boolean> {
  const { rows } = await sql`
    select from sync_runs
    where resource = ${resource} and mode in ('full', ${mode}) and state in ('succeeded', 'partial')
      and finished_at > ${since}::timestamptz
    limit 1
  `.execute(db);
  return rows.length > 0;
}
