// What the demo shows of payments: a small batch through the writer, one of whose requests expects what is not so.
// Takes the commissions from the made-up program's own tables, since no program lists them over its API.

import type { Pool } from 'pg';
import { awaitUpdates } from '../commissions/await-updates.ts';
import { drainConcurrency } from '../commissions/drain-updates.ts';
import { requestUpdates } from '../commissions/request-updates.ts';
import { plainRequest, type UpdateRequest } from '../commissions/update-request.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { Example } from './demo-tour.ts';
import type { Lifetime } from './lifetime.ts';
import { makeProgramClient } from './program-client.ts';

export interface PaymentDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly lifetime: Lifetime;
}

export interface PaymentProgram {
  readonly url: string;
  readonly secret: string;
  readonly timeoutMs: number;
}

export interface DemoPayments {
  /** Shows the batch in the payment ledger. */
  readonly ledger: Example;
  /** All were paid except the one that expects a wrong amount, which was not. */
  readonly isAsMeant: boolean;
}

interface DueCommission {
  readonly id: string;
  readonly amount: number;
}

/** Three that are paid, and the one that is not. */
const REQUESTS = 4;

/** Returns unpaid commissions of the program that are due, the oldest debts first; fewer than four where it has no more. */
export async function chooseDue(pool: Pool, programSchema: string): Promise<DueCommission[]> {
  const { rows } = await pool.query<DueCommission>(
    `select id, amount from ${programSchema}.commissions
     where paid_at is null and voided_at is null and due_at <= now()
     order by due_at, id limit ${REQUESTS}`,
  );
  return rows;
}

/** Returns what became of the payments, once they have ended: the last of them expects another amount. */
export async function payDue(
  { db, log, lifetime }: PaymentDeps,
  { url, secret, timeoutMs }: PaymentProgram,
  due: readonly DueCommission[],
): Promise<DemoPayments> {
  const options = { url, secret, timeoutMs, rateLimit: null, priority: 'payments' } as const;
  const api = makeProgramClient({ db, log, lifetime }, options);

  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const batchId = `demo ${now}`;
  const requests = due.map(({ id, amount }, index): UpdateRequest => {
    const isMistaken = index === due.length - 1;
    return plainRequest({
      commission_id: id,
      action: 'pay',
      paid_at: now,
      expected_unpaid: true,
      expected_amount: isMistaken ? amount + 100 : amount,
      reason: isMistaken ? 'demo: expects a wrong amount on purpose' : 'demo',
    });
  });
  const requested = await requestUpdates({ db }, requests, { batchId, requestedBy: 'demo' });
  const counts = await awaitUpdates(
    { api, db, log },
    requested.map(({ id }) => id),
    { concurrency: drainConcurrency(null), signal: lifetime.signal },
  );
  return {
    ledger: {
      question: 'What became of each payment?',
      query: `select affiliate_name as affiliate, amount as cents, currency, state, outcome
from commission_ledger
where batch = '${batchId}'
order by request;`,
    },
    isAsMeant: counts.conflict === 1 && (counts.applied ?? 0) === due.length - 1,
  };
}
