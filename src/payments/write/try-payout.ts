// One try at one request to pay a payout: read it with its commissions, judge, have it paid, and read it until it is.
//
// * No payment is sent unless a reading of this try says that the payout is still to be paid, and the reading is as
//   young as that of a commission: a try that sent one and does not know what became of it reads next.
// * After the announcement, which names the commissions, the ledger is asked once more for requests that wait for one
//   of them: claims.ts keeps those back from then on, and one that was claimed before is seen here.
// * A payout that is being paid is no failure: it is read again after pauses that grow with the time since the payment,
//   if many are, by one list for all of them (payouts-under-way.ts).

import { uptime } from 'node:os';
import { isGone } from '../../api/refusal.ts';
import { ApiRejected } from '../../base/errors.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import type { Payout } from '../../contract/payout.ts';
import type { Database } from '../../db/database.ts';
import { payoutIds } from '../../mirror/account.ts';
import {
  isToBePaid,
  judgePayout,
  NO_SUCH_PAYOUT,
  payoutValuesOf,
  SEE_DUE,
  stillToBePaid,
} from '../judge-payout.ts';
import type { Ending } from '../judge-update.ts';
import type { ClaimedPayout } from '../payout-request.ts';
import { readObstacles } from '../read-obstacles.ts';
import { joinNotes } from '../update-words.ts';
import type { PayoutsUnderWay } from './payouts-under-way.ts';
import { callApi, type SendSignals, sendChange } from './send-change.ts';
import {
  LONGEST_PAUSE_MS,
  MOST_PUTS,
  PASSING,
  rejection,
  SLOWER,
  type Tried,
  type TryDeps,
} from './try-update.ts';

export interface TryPayoutDeps extends TryDeps {
  readonly db: Database;
  /** The first pause before a payout that is being paid is read again. */
  readonly firstWaitMs: number;
  readonly underWay: PayoutsUnderWay;
}

const LONGEST_WAIT_MS = 600_000;
/** The list of payouts that were sent is read so many first pauses apart. */
const PAUSES_PER_LIST = 2;
const SENT_BEFORE = 'an earlier try sent the payment, and its answer was lost';

/** Returns the result of the try, as `tryUpdate` does. Throws: as that; the database's errors. */
export async function tryPayout(
  deps: TryPayoutDeps,
  update: ClaimedPayout,
  { signal, sentSignal }: SendSignals,
): Promise<Tried> {
  const { api, db, calls, money, onAnswer } = deps;
  const { id: updateId, payout_id: payoutId } = update;
  let { freshMs } = deps;
  let isSent = update.put_sent_at !== null;
  let waitedMs = update.waited_ms;
  let isAccepted = false;
  /** How the API refused a payment of this try; the next reading decides whether it was paid otherwise. */
  let refused: { end: Ending | null; error: unknown } | null = null;
  const undecided = { end: null, error: null, before: null, after: null, observed: null };
  let tried: Tried = { ...undecided, mayBeSent: isSent, calls };
  const wait = () => ({
    ...tried,
    mayBeSent: isSent,
    waitMs: Math.min(LONGEST_WAIT_MS, Math.max(deps.firstWaitMs, waitedMs)),
  });
  const refusalOf = (error: unknown, of: AbortSignal) => {
    const { end } = rejection(error, of, isSent ? { on: null } : null);
    const isMissing = end?.state === 'not_found';
    const note = joinNotes([isSent ? SENT_BEFORE : null, isMissing ? SEE_DUE : null]);
    return { end: end && { ...end, ...(isMissing && { outcome: NO_SUCH_PAYOUT }), note }, error };
  };
  const everyMs = deps.firstWaitMs * PAUSES_PER_LIST;
  const listed = isSent ? await deps.underWay.find(update, { everyMs, signal }) : null;
  if (listed === 'wait') return wait();
  for (let puts = 1; ; puts += 1) {
    const read =
      listed !== null && puts === 1
        ? ({ kind: 'answered', answer: listed } as const)
        : await callApi({ method: 'GET', form: null, signal, valuesOf: shown }, calls, (options) =>
            api.getPayout(payoutId, options),
          );
    if (read.kind === 'failed') {
      const { error } = read;
      // The payout may be being paid: only one that is gone decides that without being read.
      return { ...tried, ...(isSent && !isGone(error) ? { end: null, error } : refusalOf(error, signal)) };
    }
    const { payout: live, askedAt: readAt } = read.answer;
    await onAnswer(payoutIds(live), readAt);
    const readForMs = calls.at(-1)?.sent.at(-1)?.durationMs ?? 0;
    const freshUntil = uptime() + (freshMs - readForMs) / 1000;
    const values = payoutValuesOf(live);
    const place = isSent ? { after: values } : { before: values };
    tried = { ...tried, ...place, observed: { payout: live, observedAt: readAt } };
    if (isToBePaid(live)) {
      if (isAccepted) return { ...tried, end: stillToBePaid(live) };
      if (refused !== null) return { ...tried, ...refused };
    }
    const commissionIds = (live.commissions ?? []).map(({ id }) => id);
    const reading = { payoutId, commissionIds, readAt };
    const obstacles = isToBePaid(live) ? await readObstacles(db, reading) : [];
    const verdict = judgePayout(update, live, { isSent, waitedMs, obstacles }, money);
    if (verdict.kind === 'end') return { ...tried, end: verdict };
    if (verdict.kind === 'wait') return wait();

    const put = await sendChange(
      deps,
      {
        updateId,
        form: null,
        before: values,
        freshUntil,
        commissionIds,
        valuesOf: shown,
        put: (options) => api.payPayout(payoutId, options),
        isStillTrue: async () => (await readObstacles(db, reading)).every(({ kind }) => kind === 'refunded'),
      },
      { signal, sentSignal },
    );
    if (put.kind === 'claim_lost') return tried;
    if (put.kind === 'reading_old') {
      freshMs *= SLOWER;
      continue;
    }
    tried = { ...tried, before: values };
    if (put.kind === 'answered') {
      const { payout, answeredAt, askedAt } = put.answer;
      [isSent, isAccepted, waitedMs] = [true, true, 0];
      const observed = { payout, observedAt: answeredAt };
      tried = { ...tried, after: payoutValuesOf(payout), observed, mayBeSent: true };
      await onAnswer(payoutIds(payout), askedAt);
      if (isToBePaid(payout) || payout.commissions === undefined) continue;
      const answered = judgePayout(update, payout, { isSent, waitedMs, obstacles: [] }, money);
      if (answered.kind === 'end') return { ...tried, end: answered };
      return wait();
    }
    if (put.mayBeApplied) [isSent, waitedMs] = [true, 0];
    tried = { ...tried, mayBeSent: isSent };
    const { error } = put;
    if (error instanceof ApiRejected && error.isOfProgram && error !== sentSignal.reason) {
      refused = refusalOf(error, sentSignal);
      continue;
    }
    if (!PASSING.some((kind) => error instanceof kind) || puts >= MOST_PUTS) return { ...tried, error };
    await sleepOrAbort(Math.random() * LONGEST_PAUSE_MS, signal);
    if (signal.aborted) return { ...tried, error: signal.reason };
  }
}

function shown({ payout }: { readonly payout: Payout }) {
  return payoutValuesOf(payout);
}
