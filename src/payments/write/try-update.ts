// One try at one request: read the commission, judge, send the change, compare the answer. try-cost.ts decides the
// cost of a failed try.
//
// The API has no conditional writes: between our GET and our PUT another user may change the commission, and the PUT
// then wins. The time between the two is kept as short as the request budget allows: a PUT that was not taken (429, no
// connection), or whose permit came late (a pause of minutes, also of the machine), is not sent before the commission
// is read again.
//
// An answer that does not show the change may show the commission as it was before: it is read once more, and that
// reading decides. Nothing is sent on it.

import { uptime } from 'node:os';
import type { ApiClient } from '../../api/client.ts';
import { isGone } from '../../api/refusal.ts';
import { commissionForm } from '../../api/request-parameters.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnreachable,
  RequestWithheld,
  WriteOutcomeUnknown,
} from '../../base/errors.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import type { Commission } from '../../contract/commission.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { type AnsweredIds, commissionIds } from '../../mirror/account.ts';
import {
  type Ending,
  judgeAnswer,
  judgeReading,
  judgeUpdate,
  refusalOf,
  type SentBefore,
} from '../judge-update.ts';
import type { ObservedCommission } from '../mirror-commissions.ts';
import type { ObservedPayout } from '../mirror-payouts.ts';
import { type ClaimedUpdate, valuesOf } from '../update-request.ts';
import type { RecordedCall, Values } from './attempt-lines.ts';
import { callApi, type SendDeps, type SendSignals, sendChange } from './send-change.ts';

export interface TryDeps extends SendDeps {
  readonly api: Pick<ApiClient, 'getCommission' | 'putCommission' | 'getPayout' | 'payPayout'>;
  readonly money: MoneyFormat;
  /** How old a reading may be when a change is sent on it. */
  readonly freshMs: number;
  /** Every call is added to it, even if this throws. */
  readonly calls: RecordedCall[];
  /** Called with each record that is answered, before it is judged. An error of it ends the try. */
  readonly onAnswer: (ids: AnsweredIds, askedAt: Timestamp) => Promise<void>;
}

/**
 * The result of a try. With `end` null it is undecided, and `error` says why; with both null the claim was lost, or the
 * request is tried again after `waitMs`.
 */
export interface Tried {
  readonly end: Ending | null;
  readonly error: unknown;
  readonly before: Values | null;
  readonly after: Values | null;
  readonly mayBeSent: boolean;
  readonly calls: readonly RecordedCall[];
  readonly observed: ObservedCommission | ObservedPayout | null;
  /** Milliseconds; left out: none. */
  readonly waitMs?: number;
}

/** A lost answer is usually a lost connection: the change is sent again at once, this often at most. */
export const MOST_PUTS = 3;
/** Errors after which a further PUT is sent. */
export const PASSING = [WriteOutcomeUnknown, ApiThrottled, ApiUnreachable, RequestWithheld];
export const LONGEST_PAUSE_MS = 500;
/**
 * A reading that grew too old is made again, and may then be so many times as old: if the limit, or the API, makes
 * every request wait that long, the commission would be read for ever.
 */
export const SLOWER = 4;

/**
 * Returns the result of the try; every failure of the API, of noting the PUT and every abort is data.
 *
 * Throws: RangeError or TypeError if the request or the answer cannot be read; the errors of `onAnswer`.
 */
export async function tryUpdate(
  deps: TryDeps,
  update: ClaimedUpdate,
  { signal, sentSignal }: SendSignals,
): Promise<Tried> {
  const { api, calls, money, onAnswer } = deps;
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
    const read = await callApi({ method: 'GET', form: null, signal, valuesOf: shown }, calls, (options) =>
      api.getCommission(update.commission_id, options),
    );
    if (read.kind === 'failed') {
      const refused = rejection(read.error, signal, sent);
      // The commission may hold the change: only one that is gone decides that without being read.
      return { ...tried, ...refused, ...(sent !== null && !isGone(read.error) && { end: null }) };
    }
    const { commission: live, askedAt } = read.answer;
    await onAnswer(commissionIds(live), askedAt);
    // A reading is as old as its request, and its answer may have taken long.
    const readForMs = calls.at(-1)?.sent.at(-1)?.durationMs ?? 0;
    const freshUntil = uptime() + (freshMs - readForMs) / 1000;
    tried = { ...tried, observed: { commission: live, observedAt: askedAt } };
    const verdict = isShown
      ? judgeUpdate(update, live, sent, money)
      : judgeReading(update, sent?.on ?? null, live, money);
    if (verdict.kind === 'end') {
      // If a PUT was announced, the payment ledger has the values before it since then.
      return sent === null
        ? { ...tried, end: verdict, before: valuesOf(live) }
        : { ...tried, end: verdict, after: valuesOf(live) };
    }

    const before = valuesOf(live);
    const { change } = verdict;
    const put = await sendChange(
      deps,
      {
        updateId: update.id,
        form: commissionForm(change),
        before,
        freshUntil,
        commissionIds: null,
        valuesOf: shown,
        put: (options) => api.putCommission(update.commission_id, change, options),
      },
      { signal, sentSignal },
    );
    if (put.kind === 'claim_lost') return tried;
    if (put.kind === 'reading_old') {
      freshMs *= SLOWER;
      continue;
    }
    if (put.kind === 'answered') {
      const { commission, answeredAt } = put.answer;
      await onAnswer(commissionIds(commission), put.answer.askedAt);
      const end = judgeAnswer(update, before, commission, money);
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

const shown = ({ commission }: { readonly commission: Commission }) => valuesOf(commission);

/** Returns how the API's refusal ends the request, if it is believed; any other error decides nothing. */
export function rejection(
  error: unknown,
  signal: AbortSignal,
  sent: SentBefore | null,
): { end: Ending | null; error: unknown } {
  // The signal's reason may be any error, also a refusal of another request.
  const isRefusal = error instanceof ApiRejected && error.isOfProgram && error !== signal.reason;
  return { end: isRefusal ? refusalOf(error, sent) : null, error };
}
