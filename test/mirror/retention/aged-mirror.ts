// A mirror with rows of any age in every table that is pruned, for tests of what stays of them.

import { makeLogger } from '../../../src/base/log.ts';
import type { Retention } from '../../../src/config/process/retention.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import type { Database } from '../../../src/db/database.ts';
import { pruneTables } from '../../../src/mirror/retention/prune.ts';
import { createTestDatabase } from '../../support/database.ts';

/** Nothing is ever pruned. */
export const FOR_EVER: Retention = { history: null, runs: null, rejected: null, attempts: null, drift: null };

/** Everything is, after a day. */
export const ONE_DAY: Retention = { history: 1, runs: 1, rejected: 1, attempts: 1, drift: 1 };

export interface AgedMirror {
  readonly url: string;
  readonly pool: Pool;
  readonly db: Database;
}

/** Returns an empty one. */
export async function makeAgedMirror(): Promise<AgedMirror> {
  return createTestDatabase();
}

interface AgedRun {
  readonly resource?: string;
  readonly mode?: 'full' | 'delta';
  readonly state?: string;
  readonly verified?: boolean;
  readonly error_code?: string;
  readonly rows_rejected?: number;
}

/** Adds a run that ended so many days ago, and returns its number. Add older ones first, as time does. */
export async function addRun(pool: Pool, days: number, run: AgedRun = {}): Promise<number> {
  const { resource = 'referrals', mode = 'delta', state = 'succeeded' } = run;
  const { rows } = await pool.query<{ id: number }>(
    `insert into sync_runs (resource, mode, state, verified, error_code, rows_seen, rows_rejected, started_at, heartbeat_at,
                            finished_at)
     select $1, $2, $3, $4, $5, $6, $6, at - interval '1 minute', at, case when $3 <> 'running' then at end
     from (select now() - make_interval(secs => $7 * 86400.0) as at) aged
     returning id`,
    [
      resource,
      mode,
      state,
      run.verified ?? state === 'succeeded',
      run.error_code ?? null,
      run.rows_rejected ?? 0,
      days,
    ],
  );
  return rows[0]?.id ?? -1;
}

export interface AgedChange {
  readonly record: string;
  readonly table?: string;
  readonly run?: number;
  /** Null: the record was inserted. */
  readonly after?: object | null;
}

/** Adds a change of so many days ago, and returns its number. Add older ones first, as time does. */
export async function addChange(pool: Pool, days: number, change: AgedChange): Promise<number> {
  const { record, table = 'referrals', run = null, after = { visits: 2 } } = change;
  const { rows } = await pool.query<{ id: number }>(
    `insert into record_history (table_name, record_id, record_ids, change, before, after, observed_at, recorded_at, run_id)
     select $1, case when not is_new then $2 end, case when is_new then array[$2] end,
            case when is_new then 'inserted' else 'updated' end, case when not is_new then '{"visits": 1}'::jsonb end, $3,
            at, at, $4
     from (select now() - make_interval(secs => $5 * 86400.0) as at, $3::jsonb is null as is_new) aged
     returning id`,
    [table, record, after, run, days],
  );
  return rows[0]?.id ?? -1;
}

/** Returns what a column holds, in order. */
export async function idsOf(pool: Pool, table: string, column = 'id'): Promise<unknown[]> {
  const { rows } = await pool.query<{ value: unknown }>(
    `select ${column} as value from ${table} order by ${column}`,
  );
  return rows.map(({ value }) => value);
}

/** Looks at every table at once, whatever was looked at before. */
export async function pruneNow(
  { pool, db }: Pick<AgedMirror, 'pool' | 'db'>,
  retention: Retention,
  batchRows = 1000,
): Promise<string> {
  await pool.query('update pruned_tables set looked_at = null');
  const { signal } = new AbortController();
  return await pruneTables({ db, log: makeLogger('silent') }, { retention, signal, batchRows });
}

/** Adds a refused record of so many days ago; where it is of a run, with a difference to the contract that it found. */
export async function addFinding({ pool }: AgedMirror, run: number | null, days: number): Promise<void> {
  await pool.query(
    `insert into rejected_records (run_id, resource, record_id, reason, payload, observed_at)
     values ($1, 'referrals', 'bad', 'no', '{}', now() - make_interval(days => $2))`,
    [run, days],
  );
  if (run === null) return;
  await pool.query(
    `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, 'referrals', 'f', 'appeared', 1)`,
    [run],
  );
}
