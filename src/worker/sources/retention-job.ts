// The source `retention`: deletes rows that are over age, at most once an hour (src/mirror/retention). The table
// pruned_tables says whether that was done.

import type { Retention } from '../../config/process/retention.ts';
import { listDueTables } from '../../mirror/retention/progress.ts';
import { type PruneDeps, pruneTables } from '../../mirror/retention/prune.ts';
import { type JobSource, makeSingleSource, PRIORITY } from '../queue/job-source.ts';

const HOUR_MS = 3_600_000;
/** The wait for the rest, or while another process deletes. */
const LATER_MS = 60_000;

/** Returns the source. A job that was given up is due again in the next hour. */
export function makeRetentionSource(deps: PruneDeps, retention: Retention): JobSource {
  return makeSingleSource({
    name: 'retention',
    priority: PRIORITY.upkeep,
    needsProgram: false,
    againAfterMs: HOUR_MS,
    isDue: async (db) => (await listDueTables(db, retention)).length > 0,
    async run({ signal }) {
      const outcome = await pruneTables(deps, { retention, signal });
      return outcome === 'done' ? { kind: 'done' } : { kind: 'later', waitMs: LATER_MS };
    },
  });
}
