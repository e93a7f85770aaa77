// One try at one request: read the commission, judge, send the change, compare the answer. What a failed try costs is
// decided in judge-try.ts.
//
// The program has no conditional writes: between our GET and our PUT somebody else may change the commission, and the
// PUT then wins. The time between the two is kept as short as the request budget allows: a PUT that was not taken (429,
// no connection), or whose permit came late (a pause of minutes, also of the machine), is not sent before the
// commission is read again.
//
// An answer that does not show the change may show the commission as it was before: it is read once more, and that
// reading decides. Nothing is sent on it.

import { uptime } from 'node:os';
import type { ApiClient, ReadCommission } from '../../api/client.ts';
import { isGone } from '../../api/refusal.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnreachable,
  RequestWithheld,
  WriteOutcomeUnknown,
} from '../../errors.ts';
import { sleepOrAbort } from '../../sleep.ts';
import { type CommissionValues, valuesOf } from '../commission-values.ts';
import {
  type Ending,
  judgeAnswer,
  judgeReading,
  judgeUpdate,
  refusalOf,
  type SentBefore,
} from '../judge-update.ts';
import type { ObservedCommission } from '../mirror-commissions.ts';
import type { ClaimedUpdate } from '../update-request.ts';
import type { RecordedCall } from './attempt-lines.ts';
import { callCommission } from './call-commission.ts';
import { type SendDeps, type SendSignals, sendChange } from './send-change.ts';

export interface TryDeps extends SendDeps {
  readonly api: Pick<ApiClient, 'getCommission' | 'putCommission'>;
  readonly amountUnit: AmountUnit;
  /** How old a reading may be when a change is sent on it. */
  readonly freshMs: number;
  /** Every request that is sent is added to it, also where this throws. */
  readonly calls: RecordedCall[];
  /** Called with each commission that is answered, before anything follows from it. What it throws ends the try. */
  readonly onAnswer: (answer: ReadCommission) => Promise<void>;
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
const LONGEST_PAUSE_MS = 500;
/**
 * A reading that grew old is made again, and may grow so much older then: where the limit, or the program, makes every
 * request wait that long, it would be read for ever.
 */
const SLOWER = 4;

/**
 * Returns the result of the try; every failure of the program, of noting the PUT and every abort is data.
 *
 * Throws: what cannot be read of the request or the answer (RangeError, TypeError); what `onAnswer` throws.
 */
export async function tryUpdate(
  deps: TryDeps,
  update: ClaimedUpdate,
  { signal, sentSignal }: SendSignals,
): Promise<Tried> {
  const { api, calls, amountUnit, onAnswer } = deps;
  let { freshMs } = deps;
  let sent: SentBefore | null = update.put_sent_at === null ? null : { on: update.before };
  let tried: Tried = {
    end: null,
    error: null,
    before: null,
    after: null,
    mayBeSent: sent !== null,
    calls,
    observed: null,
  };
  /** False once a change was accepted with an answer that does not show it. */
  let isShown = true;
  for (let puts = 1; ; puts += 1) {
    const read = await callCommission({ method: 'GET', form: null, signal }, calls, (options) =>
      api.getCommission(update.commission_id, options),
    );
    if (read.kind === 'failed') {
      const refused = rejection(read.error, signal, sent);
      // It may hold the change: only a commission that is gone decides that without being read.
      return { ...tried, ...refused, ...(sent !== null && !isGone(read.error) && { end: null }) };
    }
    const { commission: live, askedAt } = read.answer;
    await onAnswer(read.answer);
    // What was read is as old as its question, and its answer may have taken long.
    const readForMs = calls.at(-1)?.sent.at(-1)?.durationMs ?? 0;
    const freshUntil = uptime() + (freshMs - readForMs) / 1000;
    tried = { ...tried, observed: { commission: live, observedAt: askedAt } };
    const verdict = isShown
      ? judgeUpdate(update, live, sent, amountUnit)
      : judgeReading(update, sent?.on ?? null, live, amountUnit);
    if (verdict.kind === 'end') {
      // Where a PUT was announced, what was there before is in the payment ledger since then.
      return sent === null
        ? { ...tried, end: verdict, before: valuesOf(live) }
        : { ...tried, end: verdict, after: valuesOf(live) };
    }

    const before = valuesOf(live);
    const { change } = verdict;
    const put = await sendChange(deps, update, { change, before, freshUntil }, { signal, sentSignal });
    if (put.kind === 'claim_lost') return tried;
    if (put.kind === 'reading_old') {
      freshMs *= SLOWER;
      continue;
    }
    if (put.kind === 'answered') {
      const { commission, answeredAt } = put.answer;
      await onAnswer(put.answer);
      const end = judgeAnswer(update, before, commission, amountUnit);
      const observed = { commission, observedAt: answeredAt };
      tried = { ...tried, before, after: valuesOf(commission), observed, mayBeSent: true };
      if (end.state === 'applied') return { ...tried, end };
      isShown = false;
      sent = { on: before };
      continue;
    }
    if (put.mayBeApplied) sent ??= { on: before };
    tried = { ...tried, before: sent?.on ?? before, mayBeSent: sent !== null };
    if (!PASSING.some((kind) => put.error instanceof kind) || puts >= MOST_PUTS) {
      return { ...tried, ...rejection(put.error, sentSignal, sent) };
    }
    await sleepOrAbort(Math.random() * LONGEST_PAUSE_MS, signal);
    if (signal.aborted) return { ...tried, error: signal.reason };
  }
}

/** Returns how the program's refusal ends the request, if it is believed; any other error decides nothing. */
function rejection(
  error: unknown,
  signal: AbortSignal,
  sent: SentBefore | null,
): { end: Ending | null; error: unknown } {
  // The signal's reason may be any error, also a refusal of another request.
  const isRefusal = error instanceof ApiRejected && error.isOfProgram && error !== signal.reason;
  return { end: isRefusal ? refusalOf(error, sent) : null, error };
}
