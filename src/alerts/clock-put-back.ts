// What was noted before the database's clock was put back lies in its future then. Left alone, nobody would be notified
// of anything until the old time.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import type { AlertTimings } from './timings.ts';

/** Has all of it count from now on. Idempotent: yes. */
export async function leaveOldTime(
  trx: DatabaseTransaction,
  { claimMs, longestPauseMs }: Pick<AlertTimings, 'claimMs' | 'longestPauseMs'>,
): Promise<void> {
  await sql`
    update alerts
    set noticed_at = least(noticed_at, clock_timestamp()),
      well_at = case when well_at is not null then least(well_at, clock_timestamp()) end
    where resolved_at is null and greatest(noticed_at, well_at) > clock_timestamp()`.execute(trx);
  await sql`
    update alert_notices set next_attempt_at = clock_timestamp()
    where state = 'pending' and next_attempt_at > ${fromNow(longestPauseMs)}`.execute(trx);
  // Shortened, not taken away: its worker may be sending at this moment.
  await sql`
    update alert_notices set claimed_until = ${fromNow(claimMs)}
    where state = 'pending' and claimed_until > ${fromNow(claimMs)}`.execute(trx);
}

function fromNow(ms: number) {
  return sql`clock_timestamp() + make_interval(secs => ${ms / 1000})`;
}
