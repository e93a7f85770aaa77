// Finds out, by one request at a time, whether the API may be asked. A job's failure does not prove that the API is
// away: one list may fail, and must not keep the others from being read. So the API is probed.

import { describeError } from '../../base/describe-error.ts';
import { ApiUnauthorized, type AppError, ProgramChanged } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../db/database.ts';
import { isFailureOfProgram, isRefusing } from './failure.ts';
import type { Timings } from './timings.ts';
import { claimProbe, noteAcceptance, noteRefusal } from './worker-state.ts';

/**
 * Asks the API for as little as possible. Throws: an error that `isRefusing`; an error that `isFailureOfProgram` if no
 * list is answered.
 */
export type Probe = (signal: AbortSignal) => Promise<void>;

export interface ProgramWatchDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly probe: Probe;
  /** Null if the environment describes the program. */
  readonly name: string | null;
}

export interface ProgramWatch {
  /** Tries the API, as a worker starts: its secret may have been corrected. */
  tryFirst(signal: AbortSignal): Promise<void>;
  /** Tries an API that is away if the next try is due. Returns whether it may be asked from now on. */
  tryAgain(signal: AbortSignal): Promise<boolean>;
  /** Notes that no job asks the API until a try succeeds. */
  noteRefusal(error: AppError): Promise<void>;
  /** Returns whether the API fails for other requests as well; then no job asks it any more. */
  isAway(error: AppError, signal: AbortSignal): Promise<boolean>;
}

/** A start and a round wait for an answer of the API for at most this long. */
const PROBE_TIMEOUT_MS = 10_000;

/** Returns the watch. Its functions throw: the signal's reason when aborted; the database's errors. */
export function makeProgramWatch({ db, log, probe, name }: ProgramWatchDeps, timings: Timings): ProgramWatch {
  const refuse = async (error: AppError) => {
    if (await noteRefusal(db, timings, error.code)) logRefusal(log, error, name === null ? FIX : FIX_LISTED);
  };
  const tryNow = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await probe(AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
    } catch (error) {
      signal.throwIfAborted();
      // An API that is down has neither refused nor accepted anything.
      if (isRefusing(error)) await refuse(error);
      else log.warn({ reason: describeError(error) }, 'program.silent');
      return false;
    }
    const isBack = await noteAcceptance(db);
    if (isBack) log.info('program.secret_accepted');
    return isBack;
  };
  let probing: Promise<boolean> | null = null;
  const probeAway = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await probe(signal);
      return false;
    } catch (error) {
      signal.throwIfAborted();
      if (!isRefusing(error) && !isFailureOfProgram(error)) return false;
      await refuse(error);
      return true;
    }
  };
  return {
    async tryFirst(signal) {
      await tryNow(signal);
    },
    tryAgain: async (signal) => (await claimProbe(db, timings)) && (await tryNow(signal)),
    noteRefusal: refuse,
    isAway(error, signal) {
      if (!isFailureOfProgram(error)) return Promise.resolve(false);
      probing ??= probeAway(signal).finally(() => {
        probing = null;
      });
      return probing;
    },
  };
}

const FIX =
  'no job asks the API meanwhile, and nothing is lost. Correct AFFILIATE_API_SECRET and restart the worker, or correct its file (AFFILIATE_API_SECRET_FILE), which is read again with the next try; work goes on by itself once the secret is accepted';
const FIX_LISTED =
  'no job asks the API meanwhile, and nothing is lost. Correct the file that secret_file of the program in PROGRAMS_FILE names; work goes on by itself once the secret is accepted';

function logRefusal(log: Logger, error: AppError, fix: string): void {
  const reason = describeError(error);
  if (error instanceof ProgramChanged) log.error({ reason: error.message }, 'program.changed');
  else if (error instanceof ApiUnauthorized) log.error({ reason, fix }, 'program.secret_refused');
  else log.warn({ reason }, 'program.away');
}
