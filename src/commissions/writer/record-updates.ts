// Writes what the writer does: the intent before a PUT is sent, and the outcome of every try with its requests and its
// effect on the mirror, in one transaction.
//
// Everything here holds only while the claim does: a writer that was frozen for longer than its claim finds its
// request taken over, sends nothing and overwrites nothing.
//
// One request's failure fails no other: a group that the database refuses is written one by one, and what the mirror
// cannot hold does not keep an update from being settled as what it is (see keep-observed.ts).

import { sql } from 'kysely';
import type { EndState } from '../../contract/payment-request.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { storableJson } from '../../db/storable.ts';
import { transact } from '../../db/transact.ts';
import type { Treatment } from '../../records/treatment.ts';
import type { CommissionValues } from '../commission-values.ts';
import { type AddToGroup, makeGroupWrites } from '../group-writes.ts';
import { type Keeping, keepObserved, MIRRORED, writeWhatCanBeKept } from '../keep-observed.ts';
import type { ObservedCommission } from '../mirror-commissions.ts';
import { trackObserved } from '../tracking/track-commissions.ts';
import { type RecordedCall, writeAttempts } from './attempt-lines.ts';
import { lockOurs } from './claims.ts';

/** How one try ended. `end` is null where the request stays pending. */
export interface TryResult {
  readonly updateId: number;
  readonly commissionId: string;
  readonly end: { readonly state: EndState; readonly outcome: string; readonly note: string | null } | null;
  readonly before: CommissionValues | null;
  readonly after: CommissionValues | null;
  readonly lastError: string | null;
  /** Whether a PUT, of this try or an earlier one, may have arrived without our knowing. */
  readonly mayBeSent: boolean;
  /** What the try costs a request that stays pending. */
  readonly attempts: number;
  readonly waitMs: number;
  readonly calls: readonly RecordedCall[];
  readonly observed: ObservedCommission | null;
  /** When the commission was asked for, where the program answered that it has none. */
  readonly goneAt: Timestamp | null;
}

/** Set before a PUT is sent. */
export interface Intent {
  readonly updateId: number;
  readonly before: CommissionValues;
  readonly form: string;
}

export interface UpdateRecorder {
  /** Returns the number of the attempt's line; null where the claim is lost, and nothing may be sent. */
  readonly intend: AddToGroup<Intent, number | null>;
  /**
   * Returns whether the claim still held; where not, only the requests that were sent are noted.
   *
   * Throws: the database's errors, those of the result itself where the payment ledger refuses it.
   */
  readonly settle: AddToGroup<TryResult, boolean>;
}

/**
 * A group is one transaction. Of more than twenty it is a large load, which waits for all others and they for it: fewer
 * transactions more than make up for that (measured).
 */
const LARGEST_GROUP = 60;

/** Returns the recorder of one writer. */
export function makeUpdateRecorder(
  deps: { db: Database; treatment?: Treatment | undefined },
  claimedBy: string,
): UpdateRecorder {
  const { db } = deps;
  return {
    intend: makeGroupWrites((intents) => writeIntents(db, claimedBy, intents), LARGEST_GROUP),
    settle: makeGroupWrites((results) => settleResults(deps, claimedBy, results), LARGEST_GROUP),
  };
}

async function settleResults(
  { db, treatment }: { db: Database; treatment?: Treatment | undefined },
  claimedBy: string,
  results: readonly TryResult[],
): Promise<readonly boolean[]> {
  const write = (keeping: Keeping) =>
    transact(db, (trx) => writeResults({ trx, treatment }, claimedBy, results, keeping));
  // Several results are only written whole: where that is refused, each of them is written again alone.
  const isKept = results.some(({ observed, goneAt }) => observed !== null || goneAt !== null);
  return results.length > 1 || !isKept ? await write(MIRRORED) : await writeWhatCanBeKept(write);
}

async function writeIntents(
  db: Database,
  claimedBy: string,
  intents: readonly Intent[],
): Promise<(number | null)[]> {
  const input = intents.map(({ updateId, before, form }) => ({ id: updateId, before, form }));
  const { rows } = await sql<{ id: number; update_id: number }>`
    with ours as materialized (${lockOurs(claimedBy, idsOf(intents))}), input as (
      select * from jsonb_to_recordset(${storableJson(input)}::jsonb) as input (id bigint, before jsonb, form text)
    ), still_ours as (
      update commission_updates request
      set before = input.before, put_sent_at = coalesce(request.put_sent_at, clock_timestamp())
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
  keeping: Keeping,
): Promise<boolean[]> {
  const input = results.map((result) => ({
    id: result.updateId,
    state: result.end?.state ?? 'pending',
    outcome: result.end?.outcome ?? null,
    note: result.end === null ? null : noteKeeping(result.end.note, result.observed, keeping),
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
  const observed = results.flatMap((result) => (result.observed === null ? [] : [result.observed]));
  const gone = results.flatMap(({ commissionId, goneAt }) =>
    goneAt === null ? [] : [{ id: commissionId, askedAt: goneAt }],
  );
  await keepObserved(trx, { observed, gone }, keeping, treatment);
  // A commission that was changed once is asked for again, all the more where the mirror could not hold it.
  if (keeping.as !== 'nothing') {
    await trackObserved(
      trx,
      results.flatMap((result) => (result.observed === null ? [] : [result.commissionId])),
    );
  }
  const settled = new Set(rows.map(({ id }) => id));
  return results.map(({ updateId }) => settled.has(updateId));
}

function idsOf(items: readonly { readonly updateId: number }[]): number[] {
  return items.map(({ updateId }) => updateId);
}

function noteKeeping(
  note: string | null,
  observed: ObservedCommission | null,
  keeping: Keeping,
): string | null {
  if (keeping.as === 'mirrored') return note;
  const where = keeping.as === 'nothing' || observed === null ? '' : ' (see rejected_records)';
  const refused = `the mirror could not take over what the program answered${where}: ${keeping.reason}`;
  return note === null ? refused : `${note}; ${refused}`;
}
