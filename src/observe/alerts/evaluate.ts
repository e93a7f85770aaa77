// One evaluation: writes alerts and their messages for the present causes, in one transaction. One worker evaluates at
// a time. If it is stopped in the middle, Postgres rolls its transaction back, so that nothing is decided by old
// figures.

import { type RawBuilder, sql } from 'kysely';
import type { Logger } from '../../base/log.ts';
import type { DatabaseTransaction } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import type { Reader } from '../../reports/figure.ts';
import { readHealth } from '../../reports/read-health.ts';
import { type Decision, decide, type KnownAlert } from './decide.ts';
import { type ChannelKind, queueOpened, queueResolved } from './outbox.ts';
import { type Cause, type FindOptions, findCauses } from './rules.ts';
import type { AlertTimings } from './timings.ts';

export interface EvaluateOptions extends FindOptions {
  /** If empty, alerts are stored without messages. */
  readonly channels: readonly ChannelKind[];
  readonly timings: AlertTimings;
}

interface Changed {
  readonly id: number;
  readonly code: string;
  readonly resource: string | null;
}

/** Returns whether it evaluated: only if that is due and no other worker does. */
export async function evaluateAlerts(
  { db, mirrorSchema, log }: Reader & { readonly log: Logger },
  options: EvaluateOptions,
): Promise<boolean> {
  const changes = await transact(db, async (trx) => {
    if (!(await claimEvaluation(trx))) return null;
    const known = await readUnresolved(trx);
    const { health } = await readHealth({ db: trx, mirrorSchema });
    const decision = decide(known, findCauses(health, options));
    const opened = [...(await writeNoticed(trx, decision)), ...(await writeOpened(trx, decision))];
    const resolved = await writeResolved(trx, decision);
    await queueOpened(trx, options.channels);
    await queueResolved(
      trx,
      resolved.map(({ id }) => id),
    );
    await setNextEvaluation(trx, options.timings);
    return { opened, resolved };
  });
  for (const { id, ...what } of changes?.opened ?? []) log.warn({ alert: id, ...what }, 'alert.opened');
  for (const { id, ...what } of changes?.resolved ?? []) log.info({ alert: id, ...what }, 'alert.resolved');
  return changes !== null;
}

async function claimEvaluation(trx: DatabaseTransaction): Promise<boolean> {
  const { rows } = await sql`
    select from alert_watch where next_look_at <= clock_timestamp() for update skip locked`.execute(trx);
  return rows.length > 0;
}

async function setNextEvaluation(
  trx: DatabaseTransaction,
  { evaluateEveryMs, restFactor, longestRestMs }: AlertTimings,
): Promise<void> {
  await sql`
    update alert_watch set next_look_at = clock_timestamp() + least(
      make_interval(secs => ${longestRestMs / 1000}),
      greatest(make_interval(secs => ${evaluateEveryMs / 1000}), ${restFactor}::float8 * (clock_timestamp() - now()))
    )`.execute(trx);
}

async function readUnresolved(trx: DatabaseTransaction): Promise<KnownAlert[]> {
  const { rows } = await sql<KnownAlert>`
    select id, code, resource, opened_at is not null as is_open,
      extract(epoch from clock_timestamp() - noticed_at)::float8 as noticed_seconds,
      extract(epoch from clock_timestamp() - well_at)::float8 as well_seconds
    from alerts where resolved_at is null order by id`.execute(trx);
  return rows;
}

async function writeNoticed(trx: DatabaseTransaction, { notice }: Decision): Promise<Changed[]> {
  const opened: Changed[] = [];
  for (const { cause, isToOpen } of notice) {
    const { rows } = await sql<Changed>`
      insert into alerts (code, resource, what, fix, error_code, since, opened_at)
      values (${cause.code}, ${cause.resource}, ${cause.what}, ${cause.fix}, ${cause.error_code},
        ${cause.since}::timestamptz, case when ${isToOpen}::boolean then clock_timestamp() end)
      returning id, code, resource`.execute(trx);
    if (isToOpen) opened.push(...rows);
  }
  return opened;
}

async function writeOpened(trx: DatabaseTransaction, { open }: Decision): Promise<Changed[]> {
  const opened: Changed[] = [];
  for (const { id, cause } of open) {
    const { rows } = await sql<Changed>`
      update alerts set opened_at = clock_timestamp(), ${setCause(cause)} where id = ${id}
      returning id, code, resource`.execute(trx);
    opened.push(...rows);
  }
  return opened;
}

function setCause({ what, fix, error_code, since }: Cause) {
  return sql`what = ${what}, fix = ${fix}, error_code = ${error_code}, since = ${since}::timestamptz`;
}

async function writeResolved(
  trx: DatabaseTransaction,
  { forget, markWell, markWrong, resolve }: Decision,
): Promise<Changed[]> {
  if (forget.length > 0) await sql`delete from alerts where id = any(${forget}::bigint[])`.execute(trx);
  await setWell(trx, markWell, sql`clock_timestamp()`);
  await setWell(trx, markWrong, sql`null`);
  if (resolve.length === 0) return [];
  const { rows } = await sql<Changed>`
    update alerts set well_at = coalesce(well_at, clock_timestamp()), resolved_at = clock_timestamp()
    where id = any(${resolve}::bigint[])
    returning id, code, resource`.execute(trx);
  return rows;
}

async function setWell(
  trx: DatabaseTransaction,
  ids: readonly number[],
  since: RawBuilder<unknown>,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`update alerts set well_at = ${since} where id = any(${ids}::bigint[])`.execute(trx);
}
