// Settles one try: writes its outcome, or, if the payment ledger refuses that, the reason.

import { ApiRejected } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { isOfTheRow } from '../../db/database-errors.ts';
import type { Claimed } from '../update-request.ts';
import type { TryResult, UpdateRecorder } from './record-updates.ts';
import { describeRefusedLine, lastErrorOf, ownFailure, type TryCost } from './try-cost.ts';
import type { Tried } from './try-update.ts';

export interface SettleDeps {
  readonly recorder: Pick<UpdateRecorder, 'settle'>;
  readonly log: Logger;
  readonly firstBackoffMs: number;
}

export interface Settled {
  /** False if the claim was lost: another writer decides about the request. */
  readonly isOurs: boolean;
  /** Null if the request is still pending. */
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
  update: Claimed,
  tried: Tried,
  cost: TryCost,
): Promise<Settled> {
  const result: TryResult = {
    updateId: update.id,
    end: cost.end,
    before: tried.before,
    after: tried.after,
    mayBeSent: tried.mayBeSent,
    lastError: lastErrorOf(cost.end, tried.error),
    attempts: cost.attempts,
    waitMs: cost.waitMs,
    calls: tried.calls,
    ...observationOf(update, tried, cost),
  };
  sayRetry(deps.log, update, result);
  try {
    return { isOurs: await deps.recorder.settle(result), end: cost.end };
  } catch (error) {
    if (!isOfTheRow(error)) throw error;
    return await settleRefused(deps, update, result, error);
  }
}

function observationOf(update: Claimed, { observed, error }: Tried, { end }: TryCost) {
  const goneAt = end?.state === 'not_found' && error instanceof ApiRejected ? error.askedAt : null;
  if (update.payout_id === null) {
    const commission = observed !== null && 'commission' in observed ? observed : null;
    return { commissionId: update.commission_id, observed: commission, goneAt };
  }
  const payout = observed !== null && 'payout' in observed ? observed : null;
  return { payoutId: update.payout_id, observed: payout, goneAt };
}

/** Settles it as a failure of the request itself, without the commission's values and the lines of HTTP requests. */
async function settleRefused(
  { recorder, log, firstBackoffMs }: SettleDeps,
  update: Claimed,
  result: TryResult,
  refusal: Error,
): Promise<Settled> {
  const reason = describeRefusedLine(result.end, refusal);
  const cost = ownFailure(update, { reason, mayBeSent: result.mayBeSent }, firstBackoffMs);
  const bare: TryResult = {
    ...result,
    ...cost,
    before: null,
    after: null,
    calls: [],
    observed: null,
    goneAt: null,
    // The note of a PUT stays: a later read settles whether it arrived.
    mayBeSent: true,
    lastError: reason,
  };
  sayRetry(log, update, bare);
  try {
    return { isOurs: await recorder.settle(bare), end: bare.end };
  } catch (error) {
    if (!isOfTheRow(error)) throw error;
    // It cannot be noted: the request is tried again when its claim has ended.
    log.error({ request: update.id, reason }, 'commissions.line_refused');
    return { isOurs: true, end: null };
  }
}

function sayRetry(log: Logger, update: Claimed, { attempts, waitMs, lastError }: TryResult): void {
  // A payout that is being paid only waits.
  if (waitMs === 0 || lastError === null) return;
  const made = update.attempts + attempts;
  log.warn(
    { request: update.id, attempts: made, wait_ms: waitMs, reason: lastError },
    'commissions.update_retried',
  );
}
