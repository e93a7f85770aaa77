// Settles one try: writes what became of it, or as much of that as the database takes.

import { isOfTheRow } from '../../db/refusal.ts';
import { ApiRejected } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { ClaimedUpdate } from '../update-request.ts';
import type { TryResult, UpdateRecorder } from './record-updates.ts';
import {
  describeRefusedLine,
  LONGEST_BACKOFF_MS,
  lastErrorOf,
  ownFailure,
  type TryCost,
} from './try-cost.ts';
import type { Tried } from './try-update.ts';

export interface SettleDeps {
  readonly recorder: Pick<UpdateRecorder, 'settle'>;
  readonly log: Logger;
  readonly firstBackoffMs: number;
}

export interface Settled {
  /** False where the claim was lost: another writer decides about the request. */
  readonly isOurs: boolean;
  /** As it was written: null where the request is still pending. */
  readonly end: TryCost['end'];
}

/**
 * Returns how the request ended. A payment ledger that refuses the line keeps the request pending with the reason, and
 * in the end makes it fail.
 *
 * Throws: the database's errors that are not about this row.
 */
export async function settleTry(
  deps: SettleDeps,
  update: ClaimedUpdate,
  tried: Tried,
  cost: TryCost,
): Promise<Settled> {
  const result: TryResult = {
    updateId: update.id,
    commissionId: update.commission_id,
    end: cost.end,
    before: tried.before,
    after: tried.after,
    mayBeSent: tried.mayBeSent,
    lastError: lastErrorOf(cost.end, tried.error),
    attempts: cost.attempts,
    waitMs: cost.waitMs,
    calls: tried.calls,
    observed: tried.observed,
    goneAt:
      cost.end?.state === 'not_found' && tried.error instanceof ApiRejected ? tried.error.askedAt : null,
  };
  sayRetry(deps.log, update, result);
  try {
    return { isOurs: await deps.recorder.settle(result), end: cost.end };
  } catch (error) {
    if (!isOfTheRow(error)) throw error;
    return await settleRefused(deps, update, result, error);
  }
}

// Less and less of the line is written, until the payment ledger takes it; where it takes nothing, the claim ends by
// itself.
async function settleRefused(
  { recorder, log, firstBackoffMs }: SettleDeps,
  update: ClaimedUpdate,
  result: TryResult,
  error: Error,
): Promise<Settled> {
  const reason = describeRefusedLine(result.end, error);
  const cost = ownFailure(update, { reason, mayBeSent: result.mayBeSent }, firstBackoffMs);
  // What was sent before stays noted: a later read then settles whether it arrived.
  const line = {
    ...result,
    ...cost,
    before: null,
    after: null,
    mayBeSent: true,
    lastError: reason,
    goneAt: null,
  };
  sayRetry(log, update, line);
  const bare = { ...line, calls: [], observed: null };
  // An end that cannot be noted is tried for again, though seldom.
  for (const less of [line, bare, { ...bare, end: null, waitMs: LONGEST_BACKOFF_MS }]) {
    try {
      return { isOurs: await recorder.settle(less), end: less.end };
    } catch (refusal) {
      if (!isOfTheRow(refusal)) throw refusal;
    }
  }
  log.error({ request: update.id, reason }, 'commissions.line_refused');
  return { isOurs: true, end: null };
}

function sayRetry(log: Logger, update: ClaimedUpdate, { attempts, waitMs, lastError }: TryResult): void {
  if (waitMs === 0) return;
  const made = update.attempts + attempts;
  log.warn(
    { request: update.id, attempts: made, wait_ms: waitMs, reason: lastError },
    'commissions.update_retried',
  );
}
