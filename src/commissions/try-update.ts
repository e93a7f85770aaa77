// One try at one request: read the commission, judge, change it, compare the answer. What a failed try costs is
// decided in drain-updates.ts.
//
// The program has no conditional writes: between our GET and our PUT somebody else may change the commission, and the
// PUT then wins. The time between the two is kept as short as the request budget allows: a PUT that was not taken (429,
// no connection), or whose permit came late (a pause of minutes, also of the machine), is not sent before the
// commission is read again.

import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFailure } from '../api/answer.ts';
import type { ApiClient, CallOptions, ReadCommission } from '../api/client.ts';
import { type CommissionChange, commissionForm } from '../api/request-parameters.ts';
import type { AmountUnit } from '../config/amount-unit.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnreachable,
  AppError,
  describeError,
  RequestWithheld,
  WriteOutcomeUnknown,
} from '../errors.ts';
import type { RecordedCall, SentRequest } from './attempt-lines.ts';
import type { Claims } from './claims.ts';
import { type Ending, judgeAnswer, judgeUpdate, refusalOf, valuesOf } from './judge-update.ts';
import type { ObservedCommission } from './mirror-commissions.ts';
import type { UpdateRecorder } from './record-updates.ts';
import type { ClaimedUpdate, CommissionValues } from './update-request.ts';

export interface TryDeps {
  readonly api: ApiClient;
  readonly recorder: Pick<UpdateRecorder, 'intend'>;
  readonly claims: Pick<Claims, 'hasTimeLeft'>;
  readonly amountUnit: AmountUnit;
  /** How old a reading may be when a change is sent on it. */
  readonly freshMs: number;
  /** Every request that is sent is added to it, also where this throws. */
  readonly calls: RecordedCall[];
  /** Called whenever the program answered with a commission, with when it was asked. */
  readonly onAnswer: (askedAt: Timestamp) => void;
}

export interface TrySignals {
  /** Ends the try, but for a PUT that was sent. */
  readonly signal: AbortSignal;
  /** Ends that, too. */
  readonly sentSignal: AbortSignal;
}

/** The result of a try. With `end` null it is undecided, and `error` says why; with both null the claim was lost. */
export interface Tried {
  readonly end: Ending | null;
  readonly error: unknown;
  readonly before: CommissionValues | null;
  readonly after: CommissionValues | null;
  readonly mayBeSent: boolean;
  readonly calls: readonly RecordedCall[];
  readonly observed: ObservedCommission | null;
}

/** A lost answer is usually a lost connection: the change is sent again at once, this often at most. */
const MOST_PUTS = 3;
/** What a further PUT may get over. */
const PASSING = [WriteOutcomeUnknown, ApiThrottled, ApiUnreachable, RequestWithheld];
const ONCE = { most: 1, mostThrottled: 1 };
const LONGEST_PAUSE_MS = 500;

/**
 * Returns the result of the try; every failure of the program, of noting the PUT and every abort is data.
 *
 * Throws: what cannot be read of the request or the answer (RangeError, TypeError).
 */
export async function tryUpdate(deps: TryDeps, update: ClaimedUpdate, signals: TrySignals): Promise<Tried> {
  const { signal, sentSignal } = signals;
  const { calls } = deps;
  let tried: Tried = {
    end: null,
    error: null,
    before: null,
    after: null,
    mayBeSent: update.put_sent_at !== null,
    calls,
    observed: null,
  };
  // Only once: where the limit alone makes every request wait that long, it would be read for ever.
  let wasReadAgain = false;
  for (let puts = 1; ; puts += 1) {
    const read = await call({ method: 'GET', form: null, signal }, calls, (options) =>
      deps.api.getCommission(update.spelled_id, options),
    );
    if (!read.isAnswered) return { ...tried, ...rejection(read.error, signal) };
    deps.onAnswer(read.answer.askedAt);
    const freshUntil = wasReadAgain ? Number.POSITIVE_INFINITY : uptime() + deps.freshMs / 1000;
    const live = read.answer.commission;
    tried = { ...tried, observed: { commission: live, observedAt: read.answer.askedAt } };
    const verdict = judgeUpdate(update, live, tried.mayBeSent, deps.amountUnit);
    if (verdict.kind === 'end') {
      // Settled by reading: what was there before is in the payment ledger since the PUT was announced.
      return verdict.state === 'applied'
        ? { ...tried, end: verdict, after: valuesOf(live) }
        : { ...tried, end: verdict, before: valuesOf(live) };
    }

    const put = await send(deps, update, verdict.change, valuesOf(live), signals, freshUntil);
    if (!put.isAnswered && put.error === CLAIM_LOST) return tried;
    if (!put.isAnswered && put.error === READING_OLD) {
      wasReadAgain = true;
      continue;
    }
    tried = { ...tried, before: valuesOf(live), mayBeSent: tried.mayBeSent || put.mayBeApplied };
    if (put.isAnswered) {
      deps.onAnswer(put.answer.askedAt);
      const { commission, answeredAt } = put.answer;
      return {
        ...tried,
        end: judgeAnswer(update, commission, deps.amountUnit),
        after: valuesOf(commission),
        observed: { commission, observedAt: answeredAt },
      };
    }
    if (!PASSING.some((kind) => put.error instanceof kind) || puts >= MOST_PUTS) {
      return { ...tried, ...rejection(put.error, sentSignal) };
    }
    const stopped = await pause(signal);
    if (stopped !== null) return { ...tried, error: stopped.reason };
  }
}

/** Returns how a refusal ends the request, if it is believed; any other error decides nothing. */
function rejection(error: unknown, signal: AbortSignal): { end: Ending | null; error: unknown } {
  // The signal's reason may be any error, also a refusal of another request.
  const isRefusal = error instanceof ApiRejected && error !== signal.reason;
  return { end: isRefusal ? refusalOf(error) : null, error };
}

type Called =
  | { readonly isAnswered: true; readonly answer: ReadCommission; readonly mayBeApplied: false }
  | { readonly isAnswered: false; readonly error: unknown; readonly mayBeApplied: boolean };

/** Ends a call before anything is sent; never seen outside of this file. */
const CLAIM_LOST = new Error('the claim was lost');
const READING_OLD = new Error('what was read of the commission is too old');

// The PUT is announced once it has its permit, in the same statement that sees whether the claim still holds: only
// the sending follows, and that asks the writer's own clock once more.
async function send(
  { api, recorder, claims, calls }: TryDeps,
  update: ClaimedUpdate,
  change: CommissionChange,
  before: CommissionValues,
  { signal, sentSignal }: TrySignals,
  freshUntil: number,
): Promise<Called> {
  const form = commissionForm(change);
  // Until the PUT is announced, it is given up with all the rest.
  const unsent = new AbortController();
  const giveUp = () => unsent.abort(signal.reason);
  signal.addEventListener('abort', giveUp);
  const either = AbortSignal.any([sentSignal, unsent.signal]);
  const put = await call({ method: 'PUT', form, signal: either }, calls, (options, announced) =>
    api.putCommission(update.spelled_id, change, {
      ...options,
      attempts: ONCE,
      async beforeSend() {
        signal.throwIfAborted();
        if (uptime() > freshUntil) throw READING_OLD;
        const intentId = await recorder.intend({ updateId: update.id, before, form });
        if (intentId === null) throw CLAIM_LOST;
        announced.push(intentId);
        signal.removeEventListener('abort', giveUp);
        return () => claims.hasTimeLeft(update.id);
      },
    }),
  );
  signal.removeEventListener('abort', giveUp);
  return put;
}

async function call(
  { method, form, signal }: { method: 'GET' | 'PUT'; form: string | null; signal: AbortSignal },
  calls: RecordedCall[],
  request: (options: CallOptions, announced: number[]) => Promise<ReadCommission>,
): Promise<Called> {
  const sent: SentRequest[] = [];
  const announced: number[] = [];
  const common = { method, sent, form, announced };
  const onRequest: CallOptions['onRequest'] = (event) => {
    sent.push({ ...event, endedAtMs: performance.now(), intentId: announced.at(-1) ?? null });
  };
  try {
    const answer = await request({ signal, onRequest }, announced);
    calls.push({ ...common, error: null, received: valuesOf(answer.commission) });
    return { isAnswered: true, answer, mayBeApplied: false };
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'ABORTED';
    calls.push({ ...common, error: { code, message: describeError(error) }, received: null });
    return {
      isAnswered: false,
      error,
      mayBeApplied: method === 'PUT' && isMaybeApplied(error, sent, signal),
    };
  }
}

// An abort leaves open what became of the request that was in flight, whatever its reason is: also an error of the
// program or of the database that another request met.
function isMaybeApplied(error: unknown, sent: readonly SentRequest[], signal: AbortSignal): boolean {
  const isAborted = signal.aborted && error === signal.reason;
  if (error instanceof AppError && !isAborted) return error instanceof WriteOutcomeUnknown;
  const last = sent.at(-1)?.status;
  return last !== undefined && (last === null || last < 300 || isFailure(last));
}

async function pause(signal: AbortSignal): Promise<AbortSignal | null> {
  try {
    await sleep(Math.random() * LONGEST_PAUSE_MS, undefined, { signal });
    return null;
  } catch (error) {
    if (signal.aborted) return signal;
    throw error;
  }
}
