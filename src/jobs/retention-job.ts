// The source `retention`: at most once an hour, what is over age is deleted. Whether that was done, the table
// pruned_tables says; what is over age, src/retention.

import type { Retention } from '../config/retention.ts';
import { type JobSource, makeSingleSource, PRIORITY } from '../queue/job-source.ts';
import { listDueTables } from '../retention/progress.ts';
import { type PruneDeps, pruneTables } from '../retention/prune.ts';

const HOUR_MS = 3_600_000;
/** What is left, or in another process's hands, is looked at again after this. */
const LATER_MS = 60_000;

/** Returns the source. Where it was given up, it is tried again in the next hour. */
export function makeRetentionSource(deps: PruneDeps, retention: Retention): JobSource {
  return makeSingleSource({
    name: 'retention',
    priority: PRIORITY.upkeep,
    needsProgram: false,
    againAfterMs: HOUR_MS,
    isDue: async () => (await listDueTables(deps.db, retention)).length > 0,
    async run({ signal }) {
      const outcome = await pruneTables(deps, { retention, signal });
      return outcome === 'done' ? { kind: 'done' } : { kind: 'later', waitMs: LATER_MS };
    },
  });
}
