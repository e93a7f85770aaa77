// Finds out whether the program may be asked, by one request at a time. What a job met is not enough to say that the
// program is away: one list of it may fail alone, and must not keep the others from being read. So it is probed.

import type { Database } from '../db/database.ts';
import { describeError } from '../describe-error.ts';
import { ApiUnauthorized, type AppError, ProgramChanged } from '../errors.ts';
import type { Logger } from '../log.ts';
import { isFailureOfProgram, isRefusing } from './failure.ts';
import { claimFirstProbe, claimProbe, noteAcceptance, noteRefusal } from './program-state.ts';
import type { Timings } from './timings.ts';

/**
 * Asks the API for as little as it can. Throws: what `isRefusing`; what `isFailureOfProgram` where none of the lists is
 * answered.
 */
export type Probe = (signal: AbortSignal) => Promise<void>;

export interface ProgramWatchDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly probe: Probe;
}

export interface ProgramWatch {
  /** Tries the program, unless another worker that starts together with this one does. */
  tryFirst(signal: AbortSignal): Promise<void>;
  /** Tries it where it is not asked and the next try is due. Returns whether it may be asked again from now on. */
  tryAgain(signal: AbortSignal): Promise<boolean>;
  /** Notes that no job asks the program until it was tried again. */
  noteRefusal(error: AppError): Promise<void>;
  /** Returns whether no job asks the program any more, since it fails for others as well. */
  isAway(error: AppError, signal: AbortSignal): Promise<boolean>;
}

/** A start and a round do not wait longer than this for a program that does not answer. */
const PROBE_TIMEOUT_MS = 10_000;
/** Workers that start together try the secret once: it is most likely the same. */
const SAME_START_MS = 10_000;

/** Returns the watch. Its functions throw: the signal's reason when aborted; the database's errors. */
export function makeProgramWatch({ db, log, probe }: ProgramWatchDeps, timings: Timings): ProgramWatch {
  const refuse = async (error: AppError) => {
    if (await noteRefusal(db, timings, error.code)) logRefusal(log, error);
  };
  const tryNow = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await probe(AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
    } catch (error) {
      signal.throwIfAborted();
      // A program that is down has not refused anything, nor accepted.
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
      if (await claimFirstProbe(db, SAME_START_MS)) await tryNow(signal);
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
  'no job asks the program meanwhile, and nothing is lost. Correct AFFILIATE_API_SECRET and restart the worker, or correct its file (AFFILIATE_API_SECRET_FILE), which is read again with the next try; work goes on by itself once the secret is accepted';

function logRefusal(log: Logger, error: AppError): void {
  const reason = describeError(error);
  if (error instanceof ProgramChanged) log.error({ reason: error.message }, 'program.changed');
  else if (error instanceof ApiUnauthorized) log.error({ reason, fix: FIX }, 'program.secret_refused');
  else log.warn({ reason }, 'program.away');
}
