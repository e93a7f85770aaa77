// Decides the cost of a try for its request: only a failure of the request itself costs an attempt. It is one if the
// API answers others.

import { describeError } from '../../base/describe-error.ts';
import { AnswerStored, ApiRejected, ApiThrottled, ApiUnauthorized, AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EndState } from '../../contract/payment-request.ts';
import { isOfTheRow, isStatementError } from '../../db/database-errors.ts';
import type { HealthMark, ProgramHealth } from '../program-health.ts';
import type { Claimed } from '../update-request.ts';
import type { Outage } from './outage.ts';
import type { Tried } from './try-update.ts';

/** The result of a try: the request's end, or a wait, or (`fatal`) the error that ends the writer. */
export interface TryCost {
  readonly end: { readonly state: EndState; readonly outcome: string; readonly note: string | null } | null;
  readonly attempts: number;
  readonly waitMs: number;
  readonly fatal: unknown;
}

const FREE: TryCost = { end: null, attempts: 0, waitMs: 0, fatal: null };

/** The longest wait between two tries. */
const LONGEST_BACKOFF_MS = 600_000;
/** The wait if a cache in front of the API answers from its store. */
const STORED_WAIT_MS = 30_000;
/** With the waits between them, some forty minutes in which the API answers every request but this one. */
const MOST_ATTEMPTS = 12;

export interface CostDeps {
  readonly health: ProgramHealth;
  readonly outage: Outage;
  readonly log: Logger;
  /** The wait after a request's first failure. */
  readonly firstBackoffMs: number;
}

/**
 * Returns the cost of the try; `mark` is the health before its last HTTP request. Begins the outage if the API turns
 * out to be down. Never throws: an error that ends the writer is `fatal`.
 */
export async function costOfTry(
  { health, outage, log, firstBackoffMs }: CostDeps,
  update: Claimed,
  { end, error, mayBeSent, waitMs = 0 }: Tried,
  { mark, signal }: { readonly mark: HealthMark; readonly signal: AbortSignal },
): Promise<TryCost> {
  const beginOutage = (reason: Error): TryCost => {
    outage.begin();
    health.noteDown();
    log.warn({ request: update.id, reason: reason.message }, 'commissions.program_down');
    return FREE;
  };
  try {
    if (error === null) return { ...FREE, end, waitMs };
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

/**
 * Returns the cost of a failure of the request itself: a wait that doubles each time, and in the end `failed`.
 * `mayBeSent`: whether a change may have arrived.
 */
export function ownFailure(
  { attempts }: Pick<Claimed, 'attempts'>,
  { reason, mayBeSent }: { readonly reason: string; readonly mayBeSent: boolean },
  firstBackoffMs: number,
): TryCost {
  const made = attempts + 1;
  if (made >= MOST_ATTEMPTS) return { ...FREE, attempts: 1, end: failed(made, reason, mayBeSent) };
  return { ...FREE, attempts: 1, waitMs: Math.min(LONGEST_BACKOFF_MS, firstBackoffMs * 2 ** attempts) };
}

/** Returns the value of last_error; null if the request itself did not fail. */
export function lastErrorOf(end: TryCost['end'], error: unknown): string | null {
  if (end !== null && end.state !== 'failed') return null;
  if (error === null) return end?.outcome ?? null;
  if (error instanceof AppError) return describeError(error);
  return isOfTheRow(error) ? describeUnreadable(error) : null;
}

function describeUnreadable(error: Error): string {
  return isStatementError(error)
    ? `the database refused to note that the change is to be sent: ${error.message}`
    : `the answer cannot be read: ${error.message}`;
}

export function describeRefusedLine(end: TryCost['end'], error: Error): string {
  const was = end === null ? 'the try' : `that it ended as ${end.state} (${end.outcome})`;
  return `the database refused to note ${was}: ${error.message}`;
}

function failed(attempts: number, reason: string, mayBeSent: boolean) {
  const outcome = `given up after ${attempts} tries, while the API answered others: ${reason}`;
  return { state: 'failed', outcome, note: mayBeSent ? MAY_HOLD_IT : null } as const;
}

const MAY_HOLD_IT = 'a try sent the change, and its answer was lost: the API may hold it';
