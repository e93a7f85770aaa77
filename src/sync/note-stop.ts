// Notes in the run log why a run stopped short, by the rule of that moment: the error may quote what the program
// answered about people, and since then the mirror may have been switched, or somebody forgotten.

import { describeError } from '../describe-error.ts';
import { AppError, PersonalDataMismatch } from '../errors.ts';
import { type RunStop, stopRun } from '../mirror/runs/stop-run.ts';
import type { SyncRun } from '../mirror/runs/sync-runs.ts';
import { storeText } from '../personal-data/store-text.ts';
import type { SyncDeps } from './walk.ts';

export interface Stopping extends Pick<RunStop, 'state' | 'requests'> {
  /** The run as it was last saved. */
  readonly saved: SyncRun;
}

export interface NotedStop {
  /** What stopped the run; a PersonalDataMismatch in its place where the mirror was switched meanwhile. */
  readonly error: unknown;
  /** The run as it stopped, also where the run log does not have it. */
  readonly stopped: SyncRun;
}

/** Returns what stopped the run, once it is noted. Throws nothing: where it cannot be noted, the log says why. */
export async function noteStop(
  { db, log, personalData }: Pick<SyncDeps, 'db' | 'log' | 'personalData'>,
  run: SyncRun,
  error: unknown,
  stopping: Stopping,
): Promise<NotedStop> {
  const { state, requests, saved } = stopping;
  const code = error instanceof AppError ? error.code : null;
  const stopOf = (message: string): RunStop => ({ state, requests, code, message });
  const described = describeError(error);
  let stopped: SyncRun | null = null;
  try {
    stopped = await storeText({ db, personalData }, described, (trx, text) =>
      stopRun(trx, run, stopOf(text)),
    );
  } catch (second) {
    if (second instanceof PersonalDataMismatch) return noteStop({ db, log }, run, second, stopping);
    // Most likely the database failed; the error that is thrown says so, and the lock ends with its connection.
    log.warn({ run_id: run.id, reason: describeError(second) }, 'sync.stop_not_recorded');
  }
  return { error, stopped: stopped ?? unrecorded(saved, stopOf(described)) };
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
