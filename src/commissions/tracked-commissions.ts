// The commissions that the mirror keeps asking for, since the program cannot list them. Knows how often each is worth
// a request: what may still change soon, often; what is settled, seldom.

import { sql } from 'kysely';
import type { ApiClient } from '../api/client.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { ApiRejected, AppError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { mapInOrder } from './map-in-order.ts';
import { markCommissionsDeleted, mirrorCommissions, type ObservedCommission } from './mirror-commissions.ts';

export interface PollSummary {
  readonly polled: number;
  readonly gone: number;
  readonly failed: number;
}

const POLLS_AT_ONCE = 20;
/** Others leave what is being polled alone for this long. */
const CLAIM_MINUTES = 15;
const RETRY_MINUTES = 60;

/** Gives back how many of the commissions were not tracked before. Idempotent: yes. */
export async function trackCommissions(
  db: Database | DatabaseTransaction,
  ids: readonly string[],
  trackedBy: string | null,
): Promise<number> {
  const { rows } = await sql`
    insert into tracked_commissions (commission_id, tracked_by)
    select distinct lower(id), coalesce(${trackedBy}::text, current_user) from unnest(${ids}::text[]) as id
    on conflict (commission_id) do nothing
    returning commission_id
  `.execute(db);
  return rows.length;
}

/** Gives back whether a tracked commission is due to be asked for. */
export async function hasDuePolls(db: Database): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select exists (select from tracked_commissions where next_poll_at <= clock_timestamp()) as is_due
  `.execute(db);
  return rows[0]?.is_due === true;
}

/**
 * Asks for every tracked commission that is due, and mirrors the answers. One that is gone is marked deleted, and not
 * asked for again. Several processes may poll at once.
 *
 * Throws: ApiUnauthorized, and the other errors that concern more than one commission; what was not answered is asked
 * for again later.
 */
export async function pollTracked(
  deps: { client: ApiClient; db: Database; log: Logger },
  { concurrency, signal }: { concurrency: number; signal: AbortSignal },
): Promise<PollSummary> {
  const { client, db, log } = deps;
  const sum = { polled: 0, gone: 0, failed: 0 };
  for (;;) {
    signal.throwIfAborted();
    const ids = await claimDue(db);
    if (ids.length === 0) return sum;
    const answers: Answer[] = [];
    for await (const answer of mapInOrder(ids, concurrency, (id) => ask(client, id, signal))) {
      if (answer.error !== null)
        log.warn({ commission: answer.id, reason: answer.error }, 'commissions.poll');
      answers.push(answer);
    }
    await db.transaction().execute((trx) => note(trx, answers));
    for (const { observed, error } of answers) {
      if (error !== null) sum.failed += 1;
      else if (observed === null) sum.gone += 1;
      else sum.polled += 1;
    }
    // Nothing but failures: the program is down, and asking for the rest would only cost budget.
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

async function ask(client: ApiClient, id: string, signal: AbortSignal): Promise<Answer> {
  try {
    const { commission, askedAt } = await client.getCommission(id, { signal });
    return { id, observed: { commission, observedAt: askedAt }, error: null };
  } catch (error) {
    if (error instanceof ApiRejected && error.status === 404) return { id, observed: null, error: null };
    if (!(error instanceof AppError) || error.retry === 'never') throw error;
    return { id, observed: null, error: error.message };
  }
}

async function note(trx: DatabaseTransaction, answers: readonly Answer[]): Promise<void> {
  await mirrorCommissions(
    trx,
    answers.flatMap(({ observed }) => (observed === null ? [] : [observed])),
  );
  const gone = answers.filter(({ observed, error }) => observed === null && error === null);
  await markCommissionsDeleted(
    trx,
    gone.map(({ id }) => id),
  );
  const input = answers.map(({ id, observed, error }) => ({
    id,
    error,
    is_gone: observed === null && error === null,
  }));
  await sql`
    update tracked_commissions tracked
    set last_error = input.error,
        last_polled_at = case when input.error is null then clock_timestamp() else tracked.last_polled_at end,
        next_poll_at = case
          when input.is_gone then null
          when input.error is not null then clock_timestamp() + make_interval(mins => ${RETRY_MINUTES})
          else clock_timestamp() + ${pollInterval()}
        end
    from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as input (id text, error text, is_gone boolean)
    left join commissions commission on commission.id = input.id
    where tracked.commission_id = input.id
  `.execute(trx);
}

// A voided commission does not come back. A payment may be corrected for a while. What is unpaid changes around the
// day on which it falls due, and while it is new; an old debt is looked at once a day.
function pollInterval() {
  return sql`case
    when commission.voided_at is not null or commission.state = 'voided' then interval '30 days'
    when commission.paid_at > clock_timestamp() - interval '30 days' then interval '1 day'
    when commission.paid_at is not null then interval '7 days'
    when commission.due_at between clock_timestamp() - interval '7 days' and clock_timestamp() + interval '2 days'
      or commission.created_at > clock_timestamp() - interval '7 days' then interval '6 hours'
    else interval '1 day'
  end`;
}
