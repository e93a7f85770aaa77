// What a try costs its request, and the words for it. Pure; judge-try.ts decides which failure costs what.

import type { EndState } from '../../contract/payment-request.ts';
import { isOfTheRow, isStatementError } from '../../db/refusal.ts';
import { describeError } from '../../describe-error.ts';
import { AppError } from '../../errors.ts';
import type { ClaimedUpdate } from '../update-request.ts';

/** What follows from a try: the request's end, or a wait, or (`fatal`) the error that ends the drain. */
export interface TryCost {
  readonly end: { readonly state: EndState; readonly outcome: string; readonly note: string | null } | null;
  readonly attempts: number;
  readonly waitMs: number;
  readonly fatal: unknown;
}

export const FREE: TryCost = { end: null, attempts: 0, waitMs: 0, fatal: null };

/** No request waits for longer between two tries. */
export const LONGEST_BACKOFF_MS = 600_000;
/** A cache in front of the API has the commission in its store: it may have thrown it away by then. */
export const STORED_WAIT_MS = 30_000;
/** With the waits between them, some forty minutes in which the program answers every request but this one. */
const MOST_ATTEMPTS = 12;

/**
 * Returns what a failure of the request itself costs: a wait that doubles each time, and in the end the request.
 * `mayBeSent`: whether a change may have arrived.
 */
export function ownFailure(
  { attempts }: Pick<ClaimedUpdate, 'attempts'>,
  { reason, mayBeSent }: { readonly reason: string; readonly mayBeSent: boolean },
  firstBackoffMs: number,
): TryCost {
  const made = attempts + 1;
  if (made >= MOST_ATTEMPTS) return { ...FREE, attempts: 1, end: failed(made, reason, mayBeSent) };
  return { ...FREE, attempts: 1, waitMs: Math.min(LONGEST_BACKOFF_MS, firstBackoffMs * 2 ** attempts) };
}

/** Returns the words for a failure of the request itself, to be kept as last_error; null where there is none. */
export function lastErrorOf(end: TryCost['end'], error: unknown): string | null {
  if (end !== null && end.state !== 'failed') return null;
  if (error === null) return end?.outcome ?? null;
  if (error instanceof AppError) return describeError(error);
  return isOfTheRow(error) ? describeUnreadable(error) : null;
}

/** Returns why a try could not be made, or its answer not be read. */
export function describeUnreadable(error: Error): string {
  return isStatementError(error)
    ? `the database refused to note that the change is to be sent: ${error.message}`
    : `what the program answered cannot be read: ${error.message}`;
}

/** Returns why the payment ledger does not say how the request ended. */
export function describeRefusedLine(end: TryCost['end'], error: Error): string {
  const was = end === null ? 'the try' : `that it ended as ${end.state} (${end.outcome})`;
  return `the database refused to note ${was}: ${error.message}`;
}

/** Returns the end of a request that failed too often. */
function failed(attempts: number, reason: string, mayBeSent: boolean) {
  const outcome = `given up after ${attempts} tries, while the program answered others: ${reason}`;
  return { state: 'failed', outcome, note: mayBeSent ? MAY_HOLD_IT : null } as const;
}

const MAY_HOLD_IT = 'a try sent the change, and its answer was lost: the commission may hold it';
