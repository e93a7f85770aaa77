// Writes the intent before a PUT is sent, and the outcome of every try with its HTTP requests and its effect on the
// mirror, in one transaction.
//
// Everything here holds only while the claim does: a writer that was frozen for longer than its claim finds its
// request taken over, sends nothing and overwrites nothing.
//
// One request's failure fails no other (see group-writes.ts). If the mirror cannot hold the commission, the request is
// settled all the same, with the reason in its note.

import { sql } from 'kysely';
import type { EndState } from '../../contract/payment-request.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { describeRefusal } from '../../db/database-errors.ts';
import { storableJson } from '../../db/storable.ts';
import { transact } from '../../db/transact.ts';
import type { Treatment } from '../../decode/treatment.ts';
import { type AddToGroup, makeGroupWrites } from '../group-writes.ts';
import { mirrorObservations, type Observation, rejectCommission } from '../mirror-commissions.ts';
import { mirrorPayouts, type PayoutObservation, rejectPayout } from '../mirror-payouts.ts';
import { trackObserved } from '../poll/track-commissions.ts';
import { joinNotes } from '../update-words.ts';
import { type RecordedCall, type Values, writeAttempts } from './attempt-lines.ts';
import { lockOurs } from './claims.ts';

/** How one try ended. `end` is null if the request stays pending. */
export type TryResult = TryOutcome & (Observation | PayoutObservation);

interface TryOutcome {
  readonly updateId: number;
  readonly end: { readonly state: EndState; readonly outcome: string; readonly note: string | null } | null;
  readonly before: Values | null;
  readonly after: Values | null;
  readonly lastError: string | null;
  /** Whether a PUT of this try or an earlier one may have arrived without an answer. */
  readonly mayBeSent: boolean;
  /** The cost of the try for a request that stays pending. */
  readonly attempts: number;
  readonly waitMs: number;
  readonly calls: readonly RecordedCall[];
}

/** Set before a PUT is sent. */
export interface Intent {
  readonly updateId: number;
  readonly before: Values;
  readonly form: string | null;
  /** The commissions that a payout pays; left out or null of a commission. */
  readonly commissionIds?: readonly string[] | null;
}

export interface UpdateRecorder {
  /** Returns the number of the attempt's line; null if the claim is lost, and nothing may be sent. */
  readonly intend: AddToGroup<Intent, number | null>;
  /**
   * Returns whether the claim still held; if not, only the HTTP requests are noted.
   *
   * Throws: the database's errors; the payment ledger's refusal of the result itself.
   */
  readonly settle: AddToGroup<TryResult, boolean>;
}

/**
 * A group is one transaction. With more than twenty it is a large load, which waits for all others and they for it:
 * fewer transactions more than make up for that (measured).
 */
const LARGEST_GROUP = 60;

/** Returns the recorder of one writer. */
export function makeUpdateRecorder(
  deps: { db: Database; treatment?: Treatment | undefined },
  claimedBy: string,
): UpdateRecorder {
  const { db, treatment } = deps;
  const settle = (results: readonly TryResult[]) =>
    transact(db, (trx) => writeResults({ trx, treatment }, claimedBy, results));
  const settleGroup = () =>
    makeGroupWrites(settle, LARGEST_GROUP, async (result: TryResult, refusal) => {
      const { observed, goneAt } = result;
      if (observed === null && goneAt === null) throw refusal;
      const reason = describeRefusal(refusal);
      // If this is refused as well, it was not for the commission.
      const [isOurs = false] = await settle([unmirrored(result, reason)]);
      if (observed === null) return isOurs;
      if ('payout' in observed) await rejectPayout(db, observed, reason, treatment);
      else await rejectCommission(db, observed, reason, treatment);
      return isOurs;
    });
  // A transaction may load one resource.
  const [settleCommissions, settlePayouts] = [settleGroup(), settleGroup()];
  return {
    intend: makeGroupWrites((intents) => writeIntents(db, claimedBy, intents), LARGEST_GROUP),
    settle: (result) => ('payoutId' in result ? settlePayouts(result) : settleCommissions(result)),
  };
}

/** Returns the result without its observation, which the mirror could not hold, and with the reason. */
function unmirrored(result: TryResult, reason: string): TryResult {
  const where = result.observed === null ? '' : ' (see rejected_records)';
  const refused = `the mirror could not store the answer${where}: ${reason}`;
  const end = result.end && { ...result.end, note: joinNotes([result.end.note, refused]) };
  return { ...result, end, observed: null, goneAt: null };
}

async function writeIntents(
  db: Database,
  claimedBy: string,
  intents: readonly Intent[],
): Promise<(number | null)[]> {
  const input = intents.map(({ updateId, before, form, commissionIds }) => ({
    id: updateId,
    before,
    form,
    commission_ids: commissionIds ?? null,
  }));
  const { rows } = await sql<{ id: number; update_id: number }>`
    with ours as materialized (${lockOurs(claimedBy, idsOf(intents))}), input as (
      select * from jsonb_to_recordset(${storableJson(input)}::jsonb) as input (
        id bigint, before jsonb, form text, commission_ids text[]
      )
    ), still_ours as (
      update commission_updates request
      set before = input.before, put_sent_at = coalesce(request.put_sent_at, clock_timestamp()),
          commission_ids = input.commission_ids
      from input join ours using (id)
      where request.id = input.id and request.claimed_until > clock_timestamp()
      returning request.id, input.form
    )
    insert into commission_update_attempts (update_id, method, sent_at, sent)
    select id, 'PUT', clock_timestamp(), form from still_ours
    returning id, update_id
  `.execute(db);
  const lines = new Map(rows.map((row) => [row.update_id, row.id]));
  return intents.map(({ updateId }) => lines.get(updateId) ?? null);
}

async function writeResults(
  { trx, treatment }: { trx: DatabaseTransaction; treatment: Treatment | undefined },
  claimedBy: string,
  results: readonly TryResult[],
): Promise<boolean[]> {
  const input = results.map((result) => ({
    id: result.updateId,
    state: result.end?.state ?? 'pending',
    outcome: result.end?.outcome ?? null,
    note: result.end?.note ?? null,
    before: result.before,
    after: result.after,
    last_error: result.lastError,
    may_be_sent: result.mayBeSent,
    attempts: result.attempts,
    wait_ms: result.waitMs,
  }));
  const { rows } = await sql<{ id: number }>`
    with ours as materialized (${lockOurs(claimedBy, idsOf(results))})
    update commission_updates request
    set state = input.state, outcome = input.outcome, note = input.note,
        before = coalesce(input.before, request.before), after = coalesce(input.after, request.after),
        last_error = coalesce(input.last_error, request.last_error),
        attempts = request.attempts + input.attempts,
        next_attempt_at = case when input.wait_ms > 0
          then clock_timestamp() + make_interval(secs => input.wait_ms / 1000.0) else request.next_attempt_at end,
        put_sent_at = case when input.state <> 'pending' or input.may_be_sent then request.put_sent_at end,
        claimed_by = null, claimed_until = null,
        finished_at = case when input.state <> 'pending' then clock_timestamp() end
    from jsonb_to_recordset(${storableJson(input)}::jsonb) as input (
      id bigint, state text, outcome text, note text, before jsonb, after jsonb, last_error text,
      may_be_sent boolean, attempts integer, wait_ms float8
    ) join ours using (id)
    where request.id = input.id
    returning request.id
  `.execute(trx);
  await writeAttempts(trx, results);
  const payouts = results.flatMap((result) => ('payoutId' in result ? [result] : []));
  await mirrorPayouts(trx, payouts, treatment);
  const commissions = results.flatMap((result) => ('payoutId' in result ? [] : [result]));
  await mirrorObservations(trx, commissions, treatment);
  // A commission that was changed once is asked for again.
  await trackObserved(
    trx,
    commissions.flatMap(({ commissionId, observed }) => (observed === null ? [] : [commissionId])),
  );
  const settled = new Set(rows.map(({ id }) => id));
  return results.map(({ updateId }) => settled.has(updateId));
}

function idsOf(items: readonly { readonly updateId: number }[]): number[] {
  return items.map(({ updateId }) => updateId);
}
