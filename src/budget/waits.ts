// The reasons to wait for a permit, and the log of long waits.

import type { Permit } from '../api/permit.ts';
import type { Logger } from '../base/log.ts';

/** `payments` go first: they must not wait for a walk. */
export type Priority = 'reads' | 'payments';

/** See the SQL function take_permit. */
export type WaitReason = 'pause' | 'window' | 'payments' | 'answer';

export interface PermitWait {
  readonly waitMs: number;
  readonly reason: WaitReason;
}

/** A permit, or how long to wait before asking again, and for what. */
export type TakenPermit = { readonly permit: Permit } | PermitWait;

/** A wait as it is shown. */
export interface BudgetWait {
  readonly reason: WaitReason;
  /** Null if it is not known. */
  readonly goesOnInMs: number | null;
}

/** Counts permits and waits of one process and one priority. Must cost next to nothing. */
export interface PermitMeter {
  granted(): void;
  /** Called when a wait is over, however it ended. */
  waited(reason: WaitReason, waitedMs: number): void;
}

const REASONS: Readonly<Record<WaitReason, string>> = {
  pause: 'the API asked for a pause (429, or nothing of the limit remains)',
  window: 'the requests of this window are used up, by this mirror or by others on the account',
  payments: 'payments go first',
  answer: 'after a pause one request asks first whether the API answers again',
};

/** A pause is logged at once; a wait for a window is normal under a limit, and is logged only if it lasts. */
const LONG_WAIT_MS = 10_000;
const SAY_AGAIN_MS = 60_000;
/** Shorter pauses are over before a user reads about them. */
const SHORT_PAUSE_MS = 1000;

/** Returns the function to call with every wait for one permit. */
export function sayLongWaits(log: Logger): (wait: PermitWait) => void {
  const beganMs = performance.now();
  let saidMs = Number.NEGATIVE_INFINITY;
  return ({ waitMs, reason }) => {
    const nowMs = performance.now();
    const isLong = reason === 'pause' ? waitMs > SHORT_PAUSE_MS : nowMs - beganMs > LONG_WAIT_MS;
    if (!isLong || nowMs - saidMs < SAY_AGAIN_MS) return;
    saidMs = nowMs;
    const until = reason === 'pause' ? new Date(Date.now() + waitMs).toISOString() : undefined;
    const waited_s = Math.round((nowMs - beganMs) / 1000);
    log.warn({ why: REASONS[reason], until, waited_s }, 'budget.waited');
  };
}
