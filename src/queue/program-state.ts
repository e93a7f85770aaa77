// Whether the program may be asked: it may not while it refuses the secret, serves another account than the mirror's,
// or is away. One row that all workers share says so, and when one of them tries again.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Timings } from './timings.ts';

type ProbeTimings = Pick<Timings, 'firstProbeMs' | 'longestProbeMs'>;

/** Returns the code of the error for which the program is not asked; null where it is asked. */
export async function readRefusal(db: Database): Promise<string | null> {
  const { rows } = await sql<{ code: string | null }>`
    select refused_code as code from worker_state`.execute(db);
  return rows[0]?.code ?? null;
}

/**
 * Notes the error for which the program is not asked until a probe succeeds. Returns whether it is another one than
 * before: the first of several jobs that meet it.
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

/** Notes that the program serves the mirror's account. Returns whether jobs did not ask it before. */
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
 * Returns whether this worker is to try the program again now, and puts the next try off, twice as long each time. A
 * try that seems further ahead than any is put off was put off before the database's clock was put back: it is due.
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

/** Returns whether this worker is to try the program as it starts: no other one has within so many milliseconds. */
export async function claimFirstProbe(db: Database, withinMs: number): Promise<boolean> {
  const { rows } = await sql`
    update worker_state set probed_at = clock_timestamp()
    where probed_at is null or probed_at < clock_timestamp() - make_interval(secs => ${withinMs}::float8 / 1000)
    returning true
  `.execute(db);
  return rows.length > 0;
}

/** Has a worker try again, where the program is not asked, within seconds, instead of when it is due. For `doctor`. */
export async function askForProbe(db: Database): Promise<void> {
  await sql`update worker_state set next_probe_at = clock_timestamp() where refused_at is not null`.execute(
    db,
  );
}
