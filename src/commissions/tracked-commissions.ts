// Asks for the commissions that the mirror tracks, where the program does not list them. How often: poll-schedule.ts.

import { type RawBuilder, sql } from 'kysely';
import type { ApiClient } from '../api/client.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { isOfTheRow, isRefusal } from '../db/refusal.ts';
import { storableText } from '../db/storable.ts';
import { transact } from '../db/transact.ts';
import { ApiRejected, ApiUnauthorized, AppError, describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { PersonalDataSource } from '../personal-data/personal-data-source.ts';
import { writeTogether } from './group-writes.ts';
import { type Keeping, keepObserved, MIRRORED, writeWhatCanBeKept } from './keep-observed.ts';
import { mapInOrder } from './map-in-order.ts';
import type { ObservedCommission } from './mirror-commissions.ts';
import { pollInterval, retryInterval } from './poll-schedule.ts';
import { makeProgramHealth, type ProgramHealth } from './program-health.ts';

export interface PollSummary {
  readonly polled: number;
  readonly gone: number;
  /** Not answered, or answered with what the mirror cannot hold. */
  readonly failed: number;
}

const POLLS_AT_ONCE = 20;
/** Others leave what is being polled alone for this long. */
const CLAIM_MINUTES = 15;

export interface Tracking {
  /** How many were not tracked before. */
  readonly added: number;
  /** How many were not asked for any more, since the program had answered that they are gone, and are now. */
  readonly resumed: number;
}

/** Tracks the commissions, and asks again for those that seemed to be gone. Idempotent: yes. */
export async function trackCommissions(
  db: Database,
  ids: readonly string[],
  trackedBy: string | null,
): Promise<Tracking> {
  // What the main query reads of the table is what was there before.
  const { rows } = await sql<Tracking>`
    with written as (
      insert into tracked_commissions (commission_id, tracked_by)
      select id, coalesce(${trackedBy}::text, current_user)
      from (select distinct lower(id) as id from unnest(${ids}::text[]) as id) as given
      where ${isNotPolled()}
      order by id
      on conflict (commission_id) do update set next_poll_at = excluded.next_poll_at
        where tracked_commissions.next_poll_at is null
      returning commission_id
    )
    select count(*) filter (where known.commission_id is null) as added, count(known.commission_id) as resumed
    from written left join tracked_commissions known using (commission_id)
  `.execute(db);
  const [tracking] = rows;
  if (tracking === undefined) throw new TypeError('an aggregate returned no row');
  return tracking;
}

/**
 * Tracks commissions that were just read, so that they are asked for again. Idempotent: yes; what is asked for already
 * keeps its time.
 */
export async function trackObserved(trx: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    insert into tracked_commissions (commission_id, tracked_by, last_polled_at, next_poll_at)
    select id, 'the writer', clock_timestamp(), clock_timestamp() + ${pollInterval()}
    from (select distinct id from unnest(${ids}::text[]) as id) as given left join commissions commission using (id)
    where ${isNotPolled()}
    order by id
    on conflict (commission_id) do update
      set last_polled_at = excluded.last_polled_at, next_poll_at = excluded.next_poll_at
      where tracked_commissions.next_poll_at is null
  `.execute(trx);
}

/** A condition on `id`. The others are left out beforehand: a conflict locks its row, also where nothing is changed. */
function isNotPolled(): RawBuilder<unknown> {
  return sql`not exists (
    select from tracked_commissions polled where polled.commission_id = id and polled.next_poll_at is not null
  )`;
}

/** Returns whether any tracked commission is due. */
export async function hasDuePolls(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from tracked_commissions where next_poll_at <= clock_timestamp() limit 1
  `.execute(db);
  return rows.length > 0;
}

/**
 * Asks for every tracked commission that is due, and mirrors the answers. One that is gone is marked deleted, and not
 * asked for again unless it is tracked anew. Several processes may poll at once.
 *
 * Throws: ApiUnauthorized, ApiRejected where the program refuses every request (the address is wrong), the
 * database's errors; what was not answered is asked for again later.
 */
export async function pollTracked(
  deps: { client: ApiClient; db: Database; log: Logger; personalData?: PersonalDataSource | undefined },
  { concurrency, signal }: { concurrency: number; signal: AbortSignal },
): Promise<PollSummary> {
  const { client, db, log, personalData } = deps;
  const health = makeProgramHealth({ client });
  const sum = { polled: 0, gone: 0, failed: 0 };
  for (;;) {
    signal.throwIfAborted();
    const ids = await claimDue(db);
    if (ids.length === 0) return sum;
    const answers = await askForAll({ client, health }, ids, { concurrency, signal });
    for (const answer of await noteAnswers({ db, personalData }, answers)) {
      const { id, error } = answer;
      if (error !== null) {
        sum.failed += 1;
        log.warn({ commission: id, reason: error }, 'commissions.poll_failed');
      } else if (isGone(answer)) sum.gone += 1;
      else sum.polled += 1;
    }
    // Nothing but failures: the program is down, and asking for the rest would only use up the request budget.
    if (answers.every(({ error }) => error !== null)) return sum;
  }
}

interface Answer {
  readonly id: string;
  /** Null where the program has no such commission, or `error` says why it is not known. */
  readonly observed: ObservedCommission | null;
  readonly error: string | null;
}

async function claimDue(db: Database): Promise<string[]> {
  const { rows } = await sql<{ commission_id: string }>`
    with due as materialized (
      select commission_id from tracked_commissions
      where next_poll_at <= clock_timestamp()
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
  // A wrong address answers 404 to everything: a 404 counts only from a program that has answered something.
  const isProven = deps.health.isProven() || !answers.some(isGone) || (await deps.health.isUp(signal));
  if (isProven) return answers;
  return answers.map((answer) => (isGone(answer) ? { ...answer, error: 'the program is down' } : answer));
}

function isGone({ observed, error }: Answer): boolean {
  return observed === null && error === null;
}

async function ask({ client, health }: PollDeps, id: string, signal: AbortSignal): Promise<Answer> {
  try {
    const { commission, askedAt } = await client.getCommission(id, { signal });
    health.noteAnswer();
    return { id, observed: { commission, observedAt: askedAt }, error: null };
  } catch (error) {
    if (error instanceof ApiRejected && error.status === 404) return { id, observed: null, error: null };
    const isItsOwn = error instanceof AppError || isOfTheRow(error);
    if (!isItsOwn || error instanceof ApiUnauthorized) throw error;
    return { id, observed: null, error: storableText(error.message) };
  }
}

/** Returns the answers as they were noted: one that the mirror cannot hold is an error, and fails no other. */
async function noteAnswers(
  { db, personalData }: { db: Database; personalData: PersonalDataSource | undefined },
  answers: readonly Answer[],
): Promise<Answer[]> {
  const noted = await writeTogether((items: readonly Answer[]) => {
    const write = (keeping: Keeping) => transact(db, (trx) => note({ trx, personalData }, items, keeping));
    return items.length > 1 ? write(MIRRORED) : writeWhatCanBeKept(write, personalData);
  }, answers);
  return noted.map((result, index) => {
    if (result.status === 'fulfilled') return result.value;
    const answer = answers[index];
    if (answer === undefined || !isRefusal(result.reason)) throw result.reason;
    // Not even that could be noted: it stays claimed for CLAIM_MINUTES, and is asked for again after the others.
    return { ...answer, error: describeError(result.reason) };
  });
}

async function note(
  { trx, personalData }: { trx: DatabaseTransaction; personalData: PersonalDataSource | undefined },
  asked: readonly Answer[],
  keeping: Keeping,
): Promise<readonly Answer[]> {
  await keepObserved(
    trx,
    {
      observed: asked.flatMap(({ observed }) => (observed === null ? [] : [observed])),
      gone: asked.filter(isGone).map(({ id }) => id),
    },
    keeping,
    personalData,
  );
  const answers =
    keeping.as === 'mirrored'
      ? asked
      : asked.map((answer) => ({ ...answer, error: answer.error ?? describeRefusal(keeping.reason) }));
  const input = answers.map((answer, index) => ({
    id: answer.id,
    error: answer.error,
    was_answered: asked[index]?.error === null,
    is_gone: isGone(answer),
  }));
  await sql`
    update tracked_commissions tracked
    set last_error = input.error,
        last_polled_at = case when input.was_answered then clock_timestamp() else tracked.last_polled_at end,
        next_poll_at = case
          when input.is_gone then null
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
