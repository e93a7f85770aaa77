// The calls that a try makes for a commission or a payout. How a call ended is data, and every request that it took is
// kept for the payment ledger.
//
// A change is sent once it is announced: the announcement is written when the PUT has its permit, in the same statement
// that sees whether the claim still holds. Only the sending follows, and that asks the writer's own clock once more.

import { uptime } from 'node:os';
import { leavesOpen } from '../../api/answer.ts';
import type { CallOptions } from '../../api/client.ts';
import { describeError } from '../../base/describe-error.ts';
import { AppError, WriteOutcomeUnknown } from '../../base/errors.ts';
import type { RecordedCall, SentRequest, Values } from './attempt-lines.ts';
import type { Claims } from './claims.ts';
import type { UpdateRecorder } from './record-updates.ts';

type Called<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayBeApplied: boolean };

interface Call<Answer> {
  readonly method: 'GET' | 'PUT';
  /** The body of a PUT. */
  readonly form: string | null;
  readonly signal: AbortSignal;
  readonly valuesOf: (answer: Answer) => Values;
}

/**
 * Makes the call by `request`, adds it to `calls`, and returns how it ended. A request that announces a PUT adds the
 * number of its line to `announced`.
 */
export async function callApi<Answer>(
  { method, form, signal, valuesOf }: Call<Answer>,
  calls: RecordedCall[],
  request: (options: CallOptions, announced: number[]) => Promise<Answer>,
): Promise<Called<Answer>> {
  const sent: SentRequest[] = [];
  const announced: number[] = [];
  const common = { method, sent, form, announced };
  const onRequest: CallOptions['onRequest'] = (event) => {
    sent.push({ ...event, endedAtMs: performance.now(), intentId: announced.at(-1) ?? null });
  };
  try {
    const answer = await request({ signal, onRequest }, announced);
    calls.push({ ...common, error: null, received: valuesOf(answer) });
    return { kind: 'answered', answer };
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'ABORTED';
    calls.push({ ...common, error: { code, message: describeError(error) }, received: null });
    return { kind: 'failed', error, mayBeApplied: method === 'PUT' && isMaybeApplied(error, sent, signal) };
  }
}

// After an abort the end of the request in flight is unknown, for any reason: also for an error of the API or of the
// database that another request met.
function isMaybeApplied(error: unknown, sent: readonly SentRequest[], signal: AbortSignal): boolean {
  const isAborted = signal.aborted && error === signal.reason;
  if (error instanceof AppError && !isAborted) return error instanceof WriteOutcomeUnknown;
  const last = sent.at(-1)?.status;
  return last !== undefined && (last === null || leavesOpen(last));
}

export interface SendDeps {
  readonly recorder: Pick<UpdateRecorder, 'intend'>;
  readonly claims: Pick<Claims, 'hasTimeLeft'>;
  /** The call is added to it. */
  readonly calls: RecordedCall[];
}

export interface SendSignals {
  /** Ends calls that have not been announced. */
  readonly signal: AbortSignal;
  /** Ends announced calls too. */
  readonly sentSignal: AbortSignal;
}

interface Change<Answer> {
  readonly updateId: number;
  readonly form: string | null;
  /** The record as it was read, and until which `uptime()` a change may be sent on it. */
  readonly before: Values;
  readonly freshUntil: number;
  /** Those that a payout pays; null of a commission. */
  readonly commissionIds: readonly string[] | null;
  readonly valuesOf: (answer: Answer) => Values;
  readonly put: (options: CallOptions) => Promise<Answer>;
  /** Asked once the change is announced: whether the reading still holds. Left out: it does. */
  readonly isStillTrue?: () => Promise<boolean>;
}

/** How the call ended; or why nothing was sent: another writer has the request, or the reading is too old. */
type SentChange<Answer> = Called<Answer> | { readonly kind: 'claim_lost' } | { readonly kind: 'reading_old' };

/** These end the call before it is announced; they do not leave this file. */
const CLAIM_LOST = new Error('the claim was lost');
const READING_OLD = new Error('the reading is too old');

export const ONCE = { most: 1, mostThrottled: 1 };

/** Returns how the change was sent, if it was. */
export async function sendChange<Answer>(
  { recorder, claims, calls }: SendDeps,
  change: Change<Answer>,
  { signal, sentSignal }: SendSignals,
): Promise<SentChange<Answer>> {
  const { updateId, form, before, freshUntil, commissionIds, valuesOf } = change;
  // Before it waits for a permit in vain.
  if (uptime() > freshUntil) return { kind: 'reading_old' };
  // Until the PUT is announced, `signal` ends it.
  const unsent = new AbortController();
  const giveUp = () => unsent.abort(signal.reason);
  signal.addEventListener('abort', giveUp);
  let isOld = false;
  const either = AbortSignal.any([sentSignal, unsent.signal]);
  const call = { method: 'PUT', form, signal: either, valuesOf } as const;
  const called = await callApi(call, calls, (options, announced) =>
    change.put({
      ...options,
      attempts: ONCE,
      async beforeSend() {
        signal.throwIfAborted();
        if (uptime() > freshUntil) throw READING_OLD;
        const intentId = await recorder.intend({ updateId, before, form, commissionIds });
        if (intentId === null) throw CLAIM_LOST;
        announced.push(intentId);
        signal.removeEventListener('abort', giveUp);
        if (change.isStillTrue !== undefined && !(await change.isStillTrue())) throw READING_OLD;
        return () => {
          // Announcing may have taken long.
          isOld = uptime() > freshUntil;
          return !isOld && claims.hasTimeLeft(updateId);
        };
      },
    }),
  );
  signal.removeEventListener('abort', giveUp);
  if (called.kind === 'answered') return called;
  if (called.error === CLAIM_LOST) return { kind: 'claim_lost' };
  return isOld || called.error === READING_OLD ? { kind: 'reading_old' } : called;
}
