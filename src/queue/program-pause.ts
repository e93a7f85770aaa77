// The pause of all work while the API refuses the secret or serves another account than the mirror's, and when it is
// tried again: one row that all workers share.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Timings } from './timings.ts';
import { readRow } from './worker-state.ts';

type ProbeTimings = Pick<Timings, 'firstProbeMs' | 'longestProbeMs'>;

export interface ProgramPause {
  /** The code of the error behind it; null where there is no pause. */
  readonly code: string | null;
  /** Whether it is time to try the secret again. */
  readonly isProbeDue: boolean;
  /** Milliseconds since a worker last tried the secret; null where none ever did. */
  readonly probedAgoMs: number | null;
}

/** Returns the pause as it is now, by the database's clock. */
export async function readPause(db: Database): Promise<ProgramPause> {
  return readRow(
    db,
    sql<ProgramPause>`
      select refused_code as code,
        refused_at is not null and next_probe_at <= clock_timestamp() as "isProbeDue",
        (extract(epoch from clock_timestamp() - probed_at) * 1000)::float8 as "probedAgoMs"
      from worker_state`,
  );
}

/**
 * Notes the error that pauses all work, and puts the next try off, twice as long each time. Returns whether it began a
 * pause, or one for another reason.
 */
export async function noteRefusal(
  db: Database,
  { firstProbeMs, longestProbeMs }: ProbeTimings,
  { isProbe, code }: { isProbe: boolean; code: string },
): Promise<boolean> {
  // Jobs that were under way when the first 401 came meet theirs later: those are no tries.
  const { rows } = await sql<{ is_first: boolean }>`
    update worker_state set
      refused_at = case when before.refused_code = ${code} then before.refused_at else clock_timestamp() end,
      refused_code = ${code},
      probed_at = clock_timestamp(),
      probes = worker_state.probes + 1,
      next_probe_at = clock_timestamp() + make_interval(
        secs => least(${longestProbeMs}::float8, ${firstProbeMs}::float8 * 2 ^ least(worker_state.probes, 30)) / 1000)
    from (select refused_at, refused_code from worker_state for update) as before
    where ${isProbe} or before.refused_at is null
    returning before.refused_code is distinct from ${code} as is_first
  `.execute(db);
  return rows[0]?.is_first === true;
}

/** Notes that the API serves the mirror's account. Returns whether that ends a pause. */
export async function noteAcceptance(db: Database): Promise<boolean> {
  const { rows } = await sql<{ was_refused: boolean }>`
    update worker_state set refused_at = null, refused_code = null, probed_at = clock_timestamp(), next_probe_at = null, probes = 0
    from (select refused_at from worker_state for update) as before
    returning before.refused_at is not null as was_refused
  `.execute(db);
  return rows[0]?.was_refused === true;
}

/** Has a worker try again, where all work is paused, at its next look, instead of when it is due. For `doctor`. */
export async function askForProbe(db: Database): Promise<void> {
  await sql`update worker_state set next_probe_at = clock_timestamp() where refused_at is not null`.execute(
    db,
  );
}
