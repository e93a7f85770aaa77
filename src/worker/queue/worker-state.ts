// State that all workers of a mirror share, on either queue: the mirror's identity and time, and whether the API may be
// asked. It may not while it refuses the secret, serves another account than the mirror's, or is away. The one row of
// worker_state says so, and when a worker tries the API again.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import { readTogether } from '../../db/transact.ts';
import type { Timings } from './timings.ts';

export interface Moment {
  /** The handle for all that is asked at this moment: a round's transaction, which reads only. */
  readonly db: Database;
  /** The database's clock. */
  readonly nowMs: number;
  /** When the mirror was made: no tick before that is missed. */
  readonly madeMs: number;
}

export interface WorkerMoment extends Moment {
  /** Whether the API is away, refuses the secret or serves another account. */
  readonly isProgramAway: boolean;
}

/** Returns the moment by the database's clock. */
export async function readMoment(db: Database): Promise<WorkerMoment> {
  const row = await readRow(
    db,
    sql<Omit<WorkerMoment, 'db'>>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs",
        (extract(epoch from made_at) * 1000)::bigint as "madeMs",
        refused_at is not null as "isProgramAway"
      from worker_state`,
  );
  return { db, ...row };
}

/**
 * Runs `work` in one transaction that reads only, and returns its result. A program at rest costs one for each round,
 * where a transaction for each question made a dozen.
 */
export async function atOneMoment<T>(db: Database, work: (moment: WorkerMoment) => Promise<T>): Promise<T> {
  return readTogether(db, async (trx) => work(await readMoment(trx)));
}

/**
 * Returns the identity of this mirror's queue in Redis. A copy of the mirror, made from a dump or by
 * `create database … template`, has the same row, so the identity includes the database. Jobs under a former identity
 * are not missed: due items follow from the tables.
 */
export async function readQueueId(db: Database): Promise<string> {
  const { queue_id } = await readRow(
    db,
    sql<{ queue_id: string }>`
      select md5(concat_ws(' ', queue_id, pg_database.oid))::uuid as queue_id
      from worker_state, pg_database where datname = current_database()`,
  );
  return queue_id;
}

/**
 * Returns the identity of the queue of a list of programs, which none of their schemas has: it follows from the server,
 * the database and the schema that the environment names.
 */
export async function readListQueueId(db: Database, baseSchema: string): Promise<string> {
  const { queue_id } = await readRow(
    db,
    sql<{ queue_id: string }>`
      select md5(concat_ws(' ', system_identifier, pg_database.oid, ${baseSchema}::text))::uuid as queue_id
      from pg_control_system(), pg_database where datname = current_database()`,
  );
  return queue_id;
}

async function readRow<T>(db: Database, query: RawBuilder<T>): Promise<T> {
  return onlyRow(await query.execute(db), 'worker_state');
}

type ProbeTimings = Pick<Timings, 'firstProbeMs' | 'longestProbeMs'>;

/** Returns the code of the error for which the API is not asked; null if it is asked. */
export async function readRefusal(db: Database): Promise<string | null> {
  const { rows } = await sql<{ code: string | null }>`
    select refused_code as code from worker_state`.execute(db);
  return rows[0]?.code ?? null;
}

/**
 * Notes the error for which the API is not asked until a probe succeeds. Returns whether it differs from the one
 * before, which is true once if several jobs meet it.
 */
export async function noteRefusal(
  db: Database,
  { firstProbeMs }: Pick<ProbeTimings, 'firstProbeMs'>,
  code: string,
): Promise<boolean> {
  const { rows } = await sql`
    update worker_state set
      refused_at = clock_timestamp(),
      refused_code = ${code},
      probed_at = clock_timestamp(),
      probes = greatest(probes, 1),
      next_probe_at = coalesce(
        next_probe_at, clock_timestamp() + make_interval(secs => ${firstProbeMs}::float8 / 1000))
    where refused_code is distinct from ${code}
    returning true
  `.execute(db);
  return rows.length > 0;
}

/** Notes that the API serves the mirror's account. Returns whether jobs did not ask it before. */
export async function noteAcceptance(db: Database): Promise<boolean> {
  const { rows } = await sql`
    update worker_state
    set refused_at = null, refused_code = null, probed_at = clock_timestamp(), next_probe_at = null, probes = 0
    where refused_at is not null
    returning true
  `.execute(db);
  return rows.length > 0;
}

/**
 * Returns whether this worker is to try the API again now, and doubles the wait for the next try. A try that lies
 * further ahead than the longest wait dates from before the database's clock was put back: it is due.
 */
export async function claimProbe(
  db: Database,
  { firstProbeMs, longestProbeMs }: ProbeTimings,
): Promise<boolean> {
  const longest = sql`make_interval(secs => ${longestProbeMs}::float8 / 1000)`;
  const { rows } = await sql`
    update worker_state set
      probed_at = clock_timestamp(),
      probes = probes + 1,
      next_probe_at = clock_timestamp()
        + least(${longest}, make_interval(secs => ${firstProbeMs}::float8 / 1000 * 2 ^ least(probes, 30)))
    where refused_at is not null
      and not next_probe_at between clock_timestamp() and clock_timestamp() + ${longest}
    returning true
  `.execute(db);
  return rows.length > 0;
}

/** Makes a worker try an API that is not asked within seconds, instead of when the try is due. For `doctor`. */
export async function askForProbe(db: Database): Promise<void> {
  await sql`update worker_state set next_probe_at = clock_timestamp() where refused_at is not null`.execute(
    db,
  );
}
