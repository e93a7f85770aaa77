// Decides what a try costs its request: only a failure of the request itself does, and whose failure it is depends on
// whether the program answers others.

import { isOfTheRow } from '../../db/refusal.ts';
import { AnswerStored, ApiRejected, ApiThrottled, ApiUnauthorized, AppError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { HealthMark, ProgramHealth } from '../program-health.ts';
import type { ClaimedUpdate } from '../update-request.ts';
import type { Outage } from './outage.ts';
import { describeUnreadable, FREE, ownFailure, STORED_WAIT_MS, type TryCost } from './try-cost.ts';
import type { Tried } from './try-update.ts';

export interface JudgeDeps {
  readonly health: ProgramHealth;
  readonly outage: Outage;
  readonly log: Logger;
  /** The wait after a request's first failure. */
  readonly firstBackoffMs: number;
}

/**
 * Returns what follows from the try, where `mark` is what was known of the program before the request was sent that
 * ended it. Begins the outage where the program is found to be down. Never throws: what ends the drain is `fatal`.
 */
export async function judgeTry(
  { health, outage, log, firstBackoffMs }: JudgeDeps,
  update: ClaimedUpdate,
  { end, error, mayBeSent }: Tried,
  { mark, signal }: { readonly mark: HealthMark; readonly signal: AbortSignal },
): Promise<TryCost> {
  const beginOutage = (reason: Error): TryCost => {
    outage.begin();
    health.noteDown();
    log.warn({ request: update.id, reason: reason.message }, 'commissions.program_down');
    return FREE;
  };
  try {
    if (error === null) return { ...FREE, end };
    if (end !== null && error instanceof ApiRejected) {
      const meaning = await health.judgeRefusal({ mark, answeredAt: error.answeredAt }, signal);
      if (meaning === 'down') return beginOutage(error);
      return meaning === 'believed' ? { ...FREE, end } : FREE;
    }
    const isOwn = error instanceof AppError || isOfTheRow(error);
    if (signal.aborted || !isOwn || error instanceof ApiUnauthorized) return { ...FREE, fatal: error };
    if (error instanceof AnswerStored) return { ...FREE, waitMs: STORED_WAIT_MS };
    if (error instanceof ApiThrottled || !(await health.isUp(signal))) return beginOutage(error);
    const reason = error instanceof AppError ? error.message : describeUnreadable(error);
    return ownFailure(update, { reason, mayBeSent }, firstBackoffMs);
  } catch (fatal) {
    return { ...FREE, fatal };
  }
}
