// The dry run of a payout, and what a dry run of a commission says of its payout.

import { sql } from 'kysely';
import type { MoneyFormat } from '../contract/money.ts';
import type { EndState } from '../contract/payment-request.ts';
import type { Database } from '../db/database.ts';
import {
  describePayment,
  isToBePaid,
  judgePayout,
  NO_SUCH_PAYOUT,
  payoutValuesOf,
  SEE_DUE,
} from './judge-payout.ts';
import type { LookedUpPayout } from './look-up.ts';
import type { PayoutRequest, PayoutValues } from './payout-request.ts';
import { readObstacles } from './read-obstacles.ts';
import type { CommissionValues, UpdateRequest } from './update-request.ts';

export interface PreviewedUpdate {
  /** `change`: a PUT would be sent. Otherwise the state in which the request would end without one. */
  readonly would: 'change' | EndState;
  readonly outcome: string;
  readonly note: string | null;
  /** The commission as it is; null if the affiliate program does not have or show it. */
  readonly live: CommissionValues | PayoutValues | null;
}

/** Returns the decision on the request, as the writer would make it now. Throws: as `lookUpPayout`. */
export async function previewPayout(
  deps: {
    readonly db: Database;
    readonly money: MoneyFormat;
    readonly lookUpPayout: (id: string) => Promise<LookedUpPayout>;
  },
  request: PayoutRequest,
): Promise<PreviewedUpdate> {
  const { db, money, lookUpPayout } = deps;
  const { payout_id: payoutId } = request;
  const found = await lookUpPayout(payoutId);
  if (found.payout === null) {
    const { state, outcome, note } = found.refusal;
    if (state === 'not_found') return { would: state, outcome: NO_SUCH_PAYOUT, note: SEE_DUE, live: null };
    return { would: state, outcome, note, live: null };
  }
  const { payout, askedAt: readAt } = found;
  const live = payoutValuesOf(payout);
  const commissionIds = (payout.commissions ?? []).map(({ id }) => id);
  const obstacles = isToBePaid(payout) ? await readObstacles(db, { payoutId, commissionIds, readAt }) : [];
  const verdict = judgePayout(request, payout, { isSent: false, waitedMs: 0, obstacles }, money);
  if (verdict.kind === 'end')
    return { would: verdict.state, outcome: verdict.outcome, note: verdict.note, live };
  if (verdict.kind === 'write')
    return { would: 'change', outcome: describePayment(payout, money), note: null, live };
  return { would: 'unchanged', outcome: 'it is being paid: nothing would be sent', note: null, live };
}

/** Describes the payout that has the commission, by the mirror; null if none has it, or it is paid. */
export async function describePayoutOf(
  db: Database,
  { commission_id, action }: UpdateRequest,
): Promise<string | null> {
  if (action === 'due') return null;
  const { rows } = await sql<{ id: string; state: string }>`
    select payout.id, payout.state
    from commissions commission
    join payouts payout on payout.id = commission.payout_id
    where commission.id = ${commission_id} and payout._deleted_at is null
      and payout.paid_at is null and payout.state <> 'paid'`.execute(db);
  const [payout] = rows;
  if (payout === undefined) return null;
  if (payout.state === 'processing') return `payout ${payout.id} is paying it: the request waits for that`;
  return `payout ${payout.id} has it: affiliate-mirror payouts pay ${payout.id} pays it with the others`;
}
