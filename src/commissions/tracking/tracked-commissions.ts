// Asks for the commissions that the mirror tracks, where the program does not list them. How often: poll-schedule.ts.

import { sql } from 'kysely';
import type { ApiClient } from '../../api/client.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { isOfTheRow, isRefusal, nameRefusal } from '../../db/refusal.ts';
import { storableText } from '../../db/storable.ts';
import { transact } from '../../db/transact.ts';
import { ApiRejected, ApiUnauthorized, AppError, ProgramChanged } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { Treatment } from '../../records/treatment.ts';
import { writeTogether } from '../group-writes.ts';
import { type Keeping, keepObserved, MIRRORED, writeWhatCanBeKept } from '../keep-observed.ts';
import { lookUp } from '../look-up.ts';
import { mapInOrder } from '../map-in-order.ts';
import type { ObservedCommission } from '../mirror-commissions.ts';
import { makeProgramHealth, type ProgramHealth } from '../program-health.ts';
import { isPollDue, pollInterval, retryInterval } from './poll-schedule.ts';

export interface PollSummary {
  readonly polled: number;
  readonly gone: number;
  /** Not answered, or answered with what the mirror cannot hold. */
  readonly failed: number;
}

const POLLS_AT_ONCE = 20;
/** Others leave what is being polled alone for this long. */
const CLAIM_MINUTES = 15;

/** Returns whether any tracked commission is due. */
export async function hasDuePolls(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from tracked_commissions where ${isPollDue()} limit 1
  `.execute(db);
  return rows.length > 0;
}

/**
 * Asks for every tracked commission that is due, and mirrors the answers. One that is gone is marked deleted, and not
 * asked for again unless it is tracked anew. Several processes may poll at once.
 *
 * Throws: ApiUnauthorized, ApiRejected where the program refuses every request (the address is wrong),
 * PersonalDataMismatch, the database's errors; what was not answered is asked for again later.
 */
export async function pollTracked(
  deps: { client: ApiClient; db: Database; log: Logger; treatment?: Treatment | undefined },
  { concurrency, signal }: { concurrency: number; signal: AbortSignal },
): Promise<PollSummary> {
  const { client, db, log, treatment } = deps;
  const health = makeProgramHealth({ client, db });
  const sum = { polled: 0, gone: 0, failed: 0 };
  for (;;) {
    signal.throwIfAborted();
    const ids = await claimDue(db);
    if (ids.length === 0) return sum;
    const answers = await askForAll({ client, health }, ids, { concurrency, signal });
    for (const { id, goneAt, error } of await noteAnswers({ db, treatment }, answers)) {
      if (error !== null) {
        sum.failed += 1;
        log.warn({ commission: id, reason: error }, 'commissions.poll_failed');
      } else if (goneAt !== null) sum.gone += 1;
      else sum.polled += 1;
    }
    // Nothing but failures: the program is down, and asking for the rest would only use up the request budget.
    if (answers.every(({ error }) => error !== null)) return sum;
  }
}

interface Answer {
  readonly id: string;
  readonly observed: ObservedCommission | null;
  /** When it was asked for, where the program has no such commission. */
  readonly goneAt: Timestamp | null;
  /** Why it is not known what the program has. */
  readonly error: string | null;
}

async function claimDue(db: Database): Promise<string[]> {
  const { rows } = await sql<{ commission_id: string }>`
    with due as materialized (
      select commission_id from tracked_commissions
      where ${isPollDue()}
      order by next_poll_at limit ${POLLS_AT_ONCE} for update skip locked
    )
    update tracked_commissions tracked
    set next_poll_at = clock_timestamp() + make_interval(mins => ${CLAIM_MINUTES})
    from due where due.commission_id = tracked.commission_id
    returning tracked.commission_id
  `.execute(db);
  return rows.map(({ commission_id }) => commission_id);
}

interface PollDeps {
  readonly client: ApiClient;
  readonly health: ProgramHealth;
}

async function askForAll(
  deps: PollDeps,
  ids: readonly string[],
  { concurrency, signal }: { concurrency: number; signal: AbortSignal },
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for await (const answer of mapInOrder(ids, concurrency, (id) => ask(deps, id, signal)))
    answers.push(answer);
  return answers;
}

/** What would meet every other commission as well. */
const OF_ALL = [ApiUnauthorized, ApiRejected, ProgramChanged];

async function ask(deps: PollDeps, id: string, signal: AbortSignal): Promise<Answer> {
  try {
    const found = await lookUp(deps, id, signal);
    const { commission, askedAt } = found;
    if (commission !== null) {
      return { id, observed: { commission, observedAt: askedAt }, goneAt: null, error: null };
    }
    return found.refusal.state === 'not_found'
      ? { id, observed: null, goneAt: askedAt, error: null }
      : { id, observed: null, goneAt: null, error: storableText(found.reason) };
  } catch (error) {
    const isItsOwn = error instanceof AppError || isOfTheRow(error);
    // A refusal of the one commission is no failure: here the program refuses everything.
    if (!isItsOwn || OF_ALL.some((kind) => error instanceof kind)) throw error;
    return { id, observed: null, goneAt: null, error: storableText(error.message) };
  }
}

/** Returns the answers as they were noted: one that the mirror cannot hold is an error, and fails no other. */
async function noteAnswers(
  { db, treatment }: { db: Database; treatment: Treatment | undefined },
  answers: readonly Answer[],
): Promise<Answer[]> {
  const noted = await writeTogether((items: readonly Answer[]) => {
    const write = (keeping: Keeping) => transact(db, (trx) => note({ trx, treatment }, items, keeping));
    return items.length > 1 ? write(MIRRORED) : writeWhatCanBeKept(write);
  }, answers);
  return noted.map((result, index) => {
    if (result.status === 'fulfilled') return result.value;
    const answer = answers[index];
    if (answer === undefined || !isRefusal(result.reason)) throw result.reason;
    // Not even that could be noted: it stays claimed for CLAIM_MINUTES, and is asked for again after the others.
    return { ...answer, goneAt: null, error: nameRefusal(result.reason) };
  });
}

async function note(
  { trx, treatment }: { trx: DatabaseTransaction; treatment: Treatment | undefined },
  asked: readonly Answer[],
  keeping: Keeping,
): Promise<readonly Answer[]> {
  await keepObserved(
    trx,
    {
      observed: asked.flatMap(({ observed }) => (observed === null ? [] : [observed])),
      gone: asked.flatMap(({ id, goneAt }) => (goneAt === null ? [] : [{ id, askedAt: goneAt }])),
    },
    keeping,
    treatment,
  );
  const answers =
    keeping.as === 'mirrored'
      ? asked
      : asked.map(({ id, observed, error }) => ({
          id,
          observed,
          goneAt: null,
          error: error ?? describeRefusal(keeping.reason),
        }));
  const input = answers.map((answer, index) => ({
    id: answer.id,
    error: answer.error,
    was_answered: asked[index]?.error === null,
    is_gone: answer.goneAt !== null,
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

function describeRefusal(reason: string): string {
  return `answered, but the mirror could not take it over: ${reason}`;
}
