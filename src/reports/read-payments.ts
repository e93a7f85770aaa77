// The number of payment requests in each state, and of those that need attention: the report payment_states.

import { sql } from 'kysely';
import { z } from 'zod';
import { onlyRow } from '../db/only-row.ts';
import { count, timestamp, updateState } from './fields.ts';
import { figureOf, mirrorTable, type Reader } from './figure.ts';

const stateLine = z.object({
  state: updateState,
  requests: count('how many'),
  oldest_requested_at: timestamp('when the first of them was asked for'),
  last_finished_at: timestamp('when the last of them ended').nullable(),
  needing_attention: count(
    'those that need attention: failed, refused or in conflict without a newer request for the same value, or due for minutes',
  ),
  needing_attention_since: timestamp('since when the first of those ended, or is due').nullable(),
});

export type StateLine = z.infer<typeof stateLine>;

export const payments = z.object({
  states: z.array(stateLine.pick({ state: true, requests: true, needing_attention: true })).readonly(),
  failed: count('requests that failed, without a newer one for the same value of their commission or payout'),
  failed_since: timestamp('when the first of them failed').nullable(),
  neglected: count('requests that are due for minutes, while no process works on any'),
  neglected_since: timestamp('since when the first of them is due').nullable(),
});

export type PaymentStatus = z.infer<typeof payments>;

/** Returns a row for each state with a request. */
export const readPaymentStates = figureOf('payment_states', stateLine, 'order by state');

/** Returns whether a payment was ever asked for. */
export async function readHasRequests(reader: Reader): Promise<boolean> {
  const answer = await sql<{ has_requests: boolean }>`
    select exists (select from ${mirrorTable(reader, 'commission_updates')}) as has_requests`.execute(
    reader.db,
  );
  return onlyRow(answer, 'whether there are requests').has_requests;
}

export function judgePayments(states: readonly StateLine[]): PaymentStatus {
  const [failed, pending] = (['failed', 'pending'] as const).map((name) =>
    states.find(({ state }) => state === name),
  );
  return {
    states: states.map(({ state, requests, needing_attention }) => ({ state, requests, needing_attention })),
    failed: failed?.needing_attention ?? 0,
    failed_since: failed?.needing_attention_since ?? null,
    neglected: pending?.needing_attention ?? 0,
    neglected_since: pending?.needing_attention_since ?? null,
  };
}
