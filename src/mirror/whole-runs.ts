// Which runs read all of their resource, whatever their mode. Knows the ledger of runs.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** A condition on sync_runs: a delta of affiliates reads all of them; one of referrals does where that costs no more. */
export const READS_EVERYTHING = sql<boolean>`(mode = 'full' or resource = 'affiliates' or plan ->> 'strategy' = 'full')`;

/** Gives back whether everything of the resource was ever read, and verified. */
export async function wasEverRead(db: Database, resource: string): Promise<boolean> {
  const { rows } = await sql`
    select from sync_runs where resource = ${resource} and state = 'succeeded' and ${READS_EVERYTHING} limit 1
  `.execute(db);
  return rows.length > 0;
}
