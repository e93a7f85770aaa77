// Repeats a step of a worker's start for as long as the database is away.

import { DatabaseUnreachable } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import { asDatabaseError } from '../../db/database-errors.ts';

const RETRY_AFTER_MS = 1000;

/**
 * Returns a function that returns what its step returns. While the step fails because the database is away, it is run
 * again, so it must be safe to run twice.
 *
 * Throws (from that function): the signal's reason when aborted; every other error of the step.
 */
export function makeStartRetry(
  { log }: { log: Logger },
  signal: AbortSignal,
): <T>(step: () => Promise<T>) => Promise<T> {
  const warn = makeQuietWarning({ log }, 'start.waits_for_database');
  return async (step) => {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await step();
      } catch (error) {
        const known = asDatabaseError(error);
        if (!(known instanceof DatabaseUnreachable)) throw error;
        warn(known);
      }
      await sleepOrAbort(RETRY_AFTER_MS, signal);
    }
  };
}
