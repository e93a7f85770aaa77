// What all workers of a mirror share, whatever their queue: its identity and its time. (The pause: program-pause.ts.)

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';

export interface Moment {
  /** The database's clock. */
  readonly nowMs: number;
  /** When the mirror was made: no tick before that is missed. */
  readonly madeMs: number;
}

/** Returns the moment by the database's clock. */
export async function readMoment(db: Database): Promise<Moment> {
  return readRow(
    db,
    sql<Moment>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs",
        (extract(epoch from made_at) * 1000)::bigint as "madeMs"
      from worker_state`,
  );
}

/** Returns what tells this mirror's queue in Redis from every other mirror's. */
export async function readQueueId(db: Database): Promise<string> {
  const { queue_id } = await readRow(db, sql<{ queue_id: string }>`select queue_id from worker_state`);
  return queue_id;
}

/** Returns the one row that all workers share. */
export async function readRow<T>(db: Database, query: RawBuilder<T>): Promise<T> {
  const { rows } = await query.execute(db);
  const row = rows[0];
  if (row === undefined) throw new TypeError('worker_state has lost its one row');
  return row;
}
