// Reads the commissions that the mirror tracks, if the API does not list them. The intervals are in poll-schedule.ts.

import { sql } from 'kysely';
import type { ApiClient } from '../../api/client.ts';
import { ApiRejected, ApiUnauthorized, AppError, ProgramChanged } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { describeRefusal, isOfTheRow } from '../../db/database-errors.ts';
import { storableText } from '../../db/storable.ts';
import { transact } from '../../db/transact.ts';
import type { Treatment } from '../../decode/treatment.ts';
import { writeTogether } from '../group-writes.ts';
import { lookUp } from '../look-up.ts';
import { mirrorObservations, type Observation, rejectCommission } from '../mirror-commissions.ts';
import { makeProgramHealth } from '../program-health.ts';
import { isPollDue, pollInterval, retryInterval } from './poll-schedule.ts';

export interface PollSummary {
  readonly polled: number;
  readonly gone: number;
  /** Not answered, or with an answer that the mirror cannot hold. */
  readonly failed: number;
}

/** Commissions that are claimed and noted together. */
const BATCH = 20;
/** No other process polls a claimed commission for this long. */
const CLAIM_MINUTES = 15;

/** Returns whether any tracked commission is due. */
export async function hasDuePolls(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from tracked_commissions where ${isPollDue()} limit 1
  `.execute(db);
  return rows.length > 0;
}

/**
 * Asks for every tracked commission that is due, one after the other, and mirrors the answers. One that is gone is
 * marked deleted, and not asked for again unless it is tracked anew. Several processes may poll at once.
 *
 * Throws: ApiUnauthorized, ApiRejected if the API refuses every request (the address is wrong), PersonalDataMismatch,
 * the database's errors; a commission that was not answered is asked for again later.
 */
export async function pollTracked(
  deps: { client: ApiClient; db: Database; log: Logger; treatment?: Treatment | undefined },
  { signal }: { signal: AbortSignal },
): Promise<PollSummary> {
  const { client, db, log, treatment } = deps;
  const health = makeProgramHealth({ client, db });
  const sum = { polled: 0, gone: 0, failed: 0 };
  for (;;) {
    signal.throwIfAborted();
    const ids = await claimDue(db);
    if (ids.length === 0) return sum;
    const answers: Answer[] = [];
    for (const id of ids) answers.push(await ask({ client, health }, id, signal));
    for (const { commissionId, goneAt, error } of await noteAnswers({ db, treatment }, answers)) {
      if (error !== null) {
        sum.failed += 1;
        log.warn({ commission: commissionId, reason: error }, 'commissions.poll_failed');
      } else if (goneAt !== null) sum.gone += 1;
      else sum.polled += 1;
    }
    // If all failed, the API is down, and asking for the rest would only use up the request budget.
    if (answers.every(({ error }) => error !== null)) return sum;
  }
}

interface Answer extends Observation {
  readonly wasAnswered: boolean;
  /** Why the commission's values are not known, or not in the mirror. */
  readonly error: string | null;
}

async function claimDue(db: Database): Promise<string[]> {
  const { rows } = await sql<{ commission_id: string }>`
    with due as materialized (
      select commission_id from tracked_commissions
      where ${isPollDue()}
      order by next_poll_at limit ${BATCH} for update skip locked
    )
    update tracked_commissions tracked
    set next_poll_at = clock_timestamp() + make_interval(mins => ${CLAIM_MINUTES})
    from due where due.commission_id = tracked.commission_id
    returning tracked.commission_id
  `.execute(db);
  return rows.map(({ commission_id }) => commission_id);
}

/** Errors that every other commission would meet as well. */
const OF_ALL = [ApiUnauthorized, ApiRejected, ProgramChanged];

async function ask(deps: Parameters<typeof lookUp>[0], id: string, signal: AbortSignal): Promise<Answer> {
  const unknown = { commissionId: id, observed: null, goneAt: null, wasAnswered: false, error: null };
  const known = { ...unknown, wasAnswered: true };
  try {
    const found = await lookUp(deps, id, signal);
    const { commission, askedAt } = found;
    if (commission !== null) return { ...known, observed: { commission, observedAt: askedAt } };
    return found.refusal.state === 'not_found'
      ? { ...known, goneAt: askedAt }
      : { ...unknown, error: storableText(found.reason) };
  } catch (error) {
    const isItsOwn = error instanceof AppError || isOfTheRow(error);
    // A refusal of the one commission is no failure: here the API refuses everything.
    if (!isItsOwn || OF_ALL.some((kind) => error instanceof kind)) throw error;
    return { ...unknown, error: storableText(error.message) };
  }
}

/** Notes the answers, and returns them: one that the mirror cannot hold becomes an error, and fails no other. */
async function noteAnswers(
  { db, treatment }: { db: Database; treatment: Treatment | undefined },
  answers: readonly Answer[],
): Promise<Answer[]> {
  const write = (items: readonly Answer[]) => transact(db, (trx) => note({ trx, treatment }, items));
  const noted = await writeTogether(write, answers, async (answer, refusal) => {
    const reason = describeRefusal(refusal);
    const error = answer.error ?? `answered, but the mirror could not store it: ${reason}`;
    const refused = { ...answer, observed: null, goneAt: null, error };
    await write([refused]);
    if (answer.observed !== null) await rejectCommission(db, answer.observed, reason, treatment);
    return refused;
  });
  return noted.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

async function note(
  { trx, treatment }: { trx: DatabaseTransaction; treatment: Treatment | undefined },
  answers: readonly Answer[],
): Promise<readonly Answer[]> {
  await mirrorObservations(trx, answers, treatment);
  const input = answers.map(({ commissionId, error, wasAnswered, goneAt }) => ({
    id: commissionId,
    error,
    was_answered: wasAnswered,
    is_gone: goneAt !== null,
  }));
  await sql`
    update tracked_commissions tracked
    set last_error = input.error,
        last_polled_at = case when input.was_answered then clock_timestamp() else tracked.last_polled_at end,
        next_poll_at = case
          when input.is_gone and (commission.id is null or commission._deleted_at is not null) then null
          when input.error is not null then clock_timestamp() + ${retryInterval()}
          else clock_timestamp() + ${pollInterval()}
        end
    from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as input (
      id text, error text, was_answered boolean, is_gone boolean
    )
    left join commissions commission on commission.id = input.id
    where tracked.commission_id = input.id
  `.execute(trx);
  return answers;
}
