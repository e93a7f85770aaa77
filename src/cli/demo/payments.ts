// What the demo shows of payments: a small batch through the writer, one of whose requests expects what is not so.

import type { Pool } from 'pg';
import { requestUpdates } from '../../commissions/requests/request-updates.ts';
import { plainRequest, type UpdateRequest } from '../../commissions/update-request.ts';
import { awaitUpdates } from '../../commissions/writer/await-updates.ts';
import { drainConcurrency } from '../../commissions/writer/drain-concurrency.ts';
import { spellToTheSecond } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import type { Logger } from '../../log.ts';
import type { Treatment } from '../../records/treatment.ts';
import type { PayableCommission } from '../../reports/read-payable.ts';
import type { Lifetime } from '../lifetime.ts';
import { makeProgramClient } from '../program-client.ts';
import type { Example } from './tour.ts';

export interface PaymentDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly lifetime: Lifetime;
  readonly treatment: Treatment;
}

export interface PaymentProgram {
  readonly url: string;
  readonly secret: string;
  readonly timeoutMs: number;
}

export interface DemoPayments {
  /** Shows the batch in the payment ledger. */
  readonly outcome: Example;
  /** All were paid except the one that expects a wrong amount, which was not. */
  readonly isAsMeant: boolean;
}

export type DueCommission = Pick<PayableCommission, 'commission_id' | 'amount'>;

/** Three that are paid, and the one that is not. */
const REQUESTS = 4;

/** Returns payable commissions, the oldest debts first; fewer than four where there are no more. */
export async function choosePayable(pool: Pool): Promise<DueCommission[]> {
  const { rows } = await pool.query<DueCommission>(
    `select commission_id, amount from unpaid_commissions
     where is_payable and has_payout_address is not false order by due_at, commission_id limit ${REQUESTS}`,
  );
  return rows;
}

/** Returns what became of the payments, once they have ended: the last of them expects another amount. */
export async function payDue(
  { db, log, lifetime, treatment }: PaymentDeps,
  { url, secret, timeoutMs }: PaymentProgram,
  due: readonly DueCommission[],
): Promise<DemoPayments> {
  const options = { url, secret, timeoutMs, rateLimit: null, priority: 'payments' } as const;
  const api = makeProgramClient({ db, log, lifetime }, options);

  const now = spellToTheSecond(Date.now());
  const batchId = `demo ${now}`;
  const requests = due.map(({ commission_id, amount }, index): UpdateRequest => {
    const isMistaken = index === due.length - 1;
    return plainRequest({
      commission_id,
      action: 'pay',
      paid_at: now,
      expected_unpaid: true,
      expected_amount: isMistaken ? amount + 100 : amount,
      reason: isMistaken ? 'demo: expects a wrong amount on purpose' : 'demo',
    });
  });
  const requested = await requestUpdates({ db }, requests, { batchId, requestedBy: 'demo' });
  const counts = await awaitUpdates(
    { api, db, log, treatment },
    requested.map(({ id }) => id),
    { concurrency: drainConcurrency(null), signal: lifetime.signal },
  );
  return {
    outcome: {
      question: 'What became of each payment?',
      query: `select affiliate_name as affiliate, amount as cents, currency, state, outcome
from commission_ledger
where batch = '${batchId}'
order by request;`,
    },
    isAsMeant: counts.conflict === 1 && (counts.applied ?? 0) === due.length - 1,
  };
}
