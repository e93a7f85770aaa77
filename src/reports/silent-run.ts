// Whether a run that is under way, by the run log, has saved nothing for so long that its process is most likely gone.
// Pure.

import type { Timestamp } from '../contract/timestamp.ts';
import type { ResourceStatus } from './read-freshness.ts';

/** A run saves its progress with every batch. */
const SILENT_SECONDS = 15 * 60;

/** Returns whether it is so: counted from its last save or, since it had nothing to save by then, a later 429. */
export function isSilent(
  { last_run_state, last_run_saved_at: savedAt, last_run_saved_age_seconds: age }: ResourceStatus,
  lastThrottledAt: Timestamp | null,
): boolean {
  if (last_run_state !== 'running' || savedAt === null || age === null) return false;
  const throttledMs = lastThrottledAt === null ? 0 : Date.parse(lastThrottledAt) - Date.parse(savedAt);
  return age - Math.max(0, throttledMs) / 1000 > SILENT_SECONDS;
}
