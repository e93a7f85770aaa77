// The source `retention`: at most once an hour, what is over age is deleted. Whether that was done, the table
// pruned_tables says; what is over age, src/retention.

import type { Retention } from '../config/retention.ts';
import { type JobSource, PRIORITY } from '../queue/job-source.ts';
import { listDueTables } from '../retention/progress.ts';
import { type PruneDeps, pruneTables } from '../retention/prune.ts';

const NAME = 'retention';
const HOUR_MS = 3_600_000;
/** What is left, or in another process's hands, is looked at again after this. */
const LATER_MS = 60_000;

/** Returns the source. Where it was given up, it is tried again in the next hour. */
export function makeRetentionSource(deps: PruneDeps, retention: Retention): JobSource {
  return {
    name: NAME,
    needsProgram: false,
    schedules: [],
    async findDue({ nowMs }) {
      if ((await listDueTables(deps.db, retention)).length === 0) return [];
      const hour = Math.floor(nowMs / HOUR_MS);
      return [
        {
          id: `${NAME}-${hour}`,
          subject: NAME,
          priority: PRIORITY.upkeep,
          async run({ signal }) {
            const outcome = await pruneTables(deps, { retention, signal });
            return outcome === 'done' ? { kind: 'done' } : { kind: 'later', waitMs: LATER_MS };
          },
        },
      ];
    },
  };
}
