// The line of each request that was sent for a commission update, in commission_update_attempts.

import { sql } from 'kysely';
import type { RequestEvent } from '../../api/request-event.ts';
import type { DatabaseTransaction } from '../../db/database.ts';
import { storableJson } from '../../db/storable.ts';
import type { PayoutValues } from '../payout-request.ts';
import type { CommissionValues } from '../update-request.ts';

/** What the payment ledger stores of an answer. */
export type Values = CommissionValues | PayoutValues;

/** One HTTP request that was made, with its end by this process's `performance.now()`. */
export interface SentRequest extends RequestEvent {
  readonly endedAtMs: number;
  /** The line that announced it; null for a GET. */
  readonly intentId: number | null;
}

/** One call of the API for a payment request: every HTTP request that it took, and how it ended. */
export interface RecordedCall {
  readonly method: 'GET' | 'PUT';
  readonly sent: readonly SentRequest[];
  /** The error of the last HTTP request; null on a success. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly form: string | null;
  readonly received: Values | null;
  /** The lines that announced a PUT, whether or not it was sent; none for a GET. */
  readonly announced: readonly number[];
}

interface AttemptLine {
  readonly intent_id: number | null;
  readonly update_id: number;
  readonly method: 'GET' | 'PUT';
  readonly ago_ms: number;
  readonly duration_ms: number | null;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly error: string | null;
  readonly sent: string | null;
  readonly received: Values | null;
}

/** Writes the line of every request of these tries. */
export async function writeAttempts(
  trx: DatabaseTransaction,
  tries: readonly { readonly updateId: number; readonly calls: readonly RecordedCall[] }[],
): Promise<void> {
  const lines = tries.flatMap(({ updateId, calls }) => calls.flatMap((call) => linesOf(updateId, call)));
  if (lines.length === 0) return;
  // A PUT has a line already: it was written before the PUT was sent.
  await sql`
    with input as (
      select input.*, row_number() over () as place
      from jsonb_to_recordset(${storableJson(lines)}::jsonb) as input (
        intent_id bigint, update_id bigint, method text, ago_ms float8, duration_ms integer, status integer,
        error_code text, error text, sent text, received jsonb
      )
    ), announced as (
      update commission_update_attempts attempt
      set duration_ms = input.duration_ms, status = input.status, error_code = input.error_code,
          error = input.error, received = input.received
      -- After a failover to an older copy, the number may be another request's.
      from input where attempt.id = input.intent_id and attempt.update_id = input.update_id
      returning attempt.id, attempt.sent_at
    ), placed as (
      -- The later a busy machine executes this, the later a GET seems: it was answered before the PUT that followed it.
      select input.*, min(announced.sent_at) over (
        partition by input.update_id order by place rows between 1 following and unbounded following
      ) as next_put_at
      from input left join announced on announced.id = input.intent_id
    )
    insert into commission_update_attempts
      (update_id, method, sent_at, duration_ms, status, error_code, error, sent, received)
    select update_id, method, least(
             clock_timestamp() - make_interval(secs => ago_ms / 1000),
             next_put_at - make_interval(secs => greatest(duration_ms, 1) / 1000.0)
           ), duration_ms, status, error_code, error, sent, received
    from placed where intent_id is null
    order by place
  `.execute(trx);
}

const NEVER_SENT = 'not sent: stopped before';
const REPEATED = 'repeated at once';

function linesOf(updateId: number, call: RecordedCall): AttemptLine[] {
  const nowMs = performance.now();
  const common = { update_id: updateId, method: call.method, sent: call.form };
  const sent = call.sent.map((request, index) => {
    const isLast = index === call.sent.length - 1;
    return {
      ...common,
      intent_id: request.intentId,
      ago_ms: nowMs - request.endedAtMs + request.durationMs - 300,
      duration_ms: request.durationMs,
      status: request.status,
      error_code: isLast ? (call.error?.code ?? null) : null,
      error: isLast ? (call.error?.message ?? null) : REPEATED,
      received: isLast ? call.received : null,
    };
  });
  const left = new Set(call.sent.map(({ intentId }) => intentId));
  const unsent = call.announced.filter((id) => !left.has(id));
  return [
    ...sent,
    ...unsent.map((id) => ({
      ...common,
      intent_id: id,
      ago_ms: 0,
      duration_ms: 0,
      status: null,
      error_code: call.error?.code ?? null,
      error: call.error === null ? NEVER_SENT : `${NEVER_SENT}: ${call.error.message}`,
      received: null,
    })),
  ];
}
