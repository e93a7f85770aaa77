// Repeats a step of a worker's start for as long as the database is away.

import { asDatabaseError } from '../db/as-database-error.ts';
import { DatabaseUnreachable } from '../errors.ts';
import type { Logger } from '../log.ts';
import { sleepOrAbort } from '../sleep.ts';
import { makeQuietWarning } from './quiet-warning.ts';

/** The wait before the step is run again. */
const AGAIN_AFTER_MS = 1000;

/** Runs a step of the start. */
export type Patiently = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that returns what its step returns, and runs the step again for as long as it fails because the
 * connection to the database was lost: the step must be safe to run twice.
 *
 * Throws (from that function): the signal's reason when aborted; every other error of the step.
 */
export function makePatiently({ log }: { log: Logger }, signal: AbortSignal): Patiently {
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
      await sleepOrAbort(AGAIN_AFTER_MS, signal);
    }
  };
}
