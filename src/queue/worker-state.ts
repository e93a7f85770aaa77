// What all workers of a mirror share, whatever their queue: its identity and its time, and whether the program may be
// asked (program-state.ts).

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

export interface Moment {
  /** The database's clock. */
  readonly nowMs: number;
  /** When the mirror was made: no tick before that is missed. */
  readonly madeMs: number;
}

export interface WorkerMoment extends Moment {
  /** Whether the program is away, refuses the secret or serves another account. */
  readonly isProgramAway: boolean;
}

/** Returns the moment by the database's clock. */
export async function readMoment(db: Database): Promise<WorkerMoment> {
  return readRow(
    db,
    sql<WorkerMoment>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs",
        (extract(epoch from made_at) * 1000)::bigint as "madeMs",
        refused_at is not null as "isProgramAway"
      from worker_state`,
  );
}

/**
 * Returns what tells this mirror's queue in Redis from every other mirror's. A copy of the mirror, made of a dump or by
 * `create database … template`, has the same row: so the database that the row is in counts as well. What is left under
 * another name is not missed: what is due follows from the tables.
 */
export async function readQueueId(db: Database): Promise<string> {
  const { may_read } = await readRow(
    db,
    sql<{ may_read: boolean }>`select has_function_privilege('pg_control_system()', 'execute') as may_read`,
  );
  // A database in another server may have the same number.
  const server = may_read ? sql`(select system_identifier from pg_control_system())` : sql`null`;
  const { queue_id } = await readRow(
    db,
    sql<{ queue_id: string }>`
      select md5(concat_ws(' ', queue_id, pg_database.oid, ${server}))::uuid as queue_id
      from worker_state, pg_database where datname = current_database()`,
  );
  return queue_id;
}

async function readRow<T>(db: Database, query: RawBuilder<T>): Promise<T> {
  return onlyRow(await query.execute(db), 'worker_state');
}
