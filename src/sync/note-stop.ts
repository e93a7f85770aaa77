// Notes in the run log why a run stopped short.

import { describeError } from '../describe-error.ts';
import { AppError } from '../errors.ts';
import { type RunStop, stopRun } from '../mirror/runs/stop-run.ts';
import type { SyncRun } from '../mirror/runs/sync-runs.ts';
import type { SyncDeps } from './walk.ts';

export interface Stopping extends Pick<RunStop, 'state' | 'requests'> {
  /** The run as it was last saved. */
  readonly saved: SyncRun;
}

/**
 * Returns the run as it stopped, once that is noted. Throws nothing: where it cannot be noted, the log says why, and
 * the run is returned all the same.
 */
export async function noteStop(
  { db, log }: Pick<SyncDeps, 'db' | 'log'>,
  run: SyncRun,
  error: unknown,
  stopping: Stopping,
): Promise<SyncRun> {
  const { state, requests, saved } = stopping;
  const code = error instanceof AppError ? error.code : null;
  const stopOf = (message: string): RunStop => ({ state, requests, code, message });
  const described = describeError(error);
  let stopped: SyncRun | null = null;
  try {
    stopped = await stopRun(db, run, stopOf(described));
  } catch (second) {
    // Most likely the database failed; the error that is thrown says so, and the lock ends with its connection.
    log.warn({ run_id: run.id, reason: describeError(second) }, 'sync.stop_not_recorded');
  }
  return stopped ?? unrecorded(saved, stopOf(described));
}

// The run log does not have it: the database is gone, or another process works on the run.
function unrecorded(saved: SyncRun, { state, code, message, requests }: RunStop): SyncRun {
  const stoppedAt = new Date().toISOString();
  return {
    ...saved,
    state,
    error_code: code,
    error: message,
    requests: saved.requests + requests,
    finished_at: stoppedAt,
  };
}
