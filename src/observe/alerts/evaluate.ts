// One evaluation: writes alerts and their messages for the present causes, in one transaction. One worker evaluates at
// a time. If it is stopped in the middle, Postgres rolls its transaction back, so that nothing is decided by old
// figures. The transaction also reads what else is wanted of the program, so that one at rest costs no other.

import { type RawBuilder, sql } from 'kysely';
import type { Logger } from '../../base/log.ts';
import type { DatabaseTransaction } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import type { Reader } from '../../reports/figure.ts';
import { type MirrorHealth, readHealth } from '../../reports/read-health.ts';
import { type Decision, decide, type KnownAlert } from './decide.ts';
import { type ChannelKind, type PendingNotice, queueOpened, queueResolved, readPending } from './outbox.ts';
import { type Cause, type FindOptions, findCauses } from './rules.ts';
import type { AlertTimings } from './timings.ts';

export interface EvaluateOptions extends FindOptions {
  /** If empty, alerts are stored without messages. */
  readonly channels: readonly ChannelKind[];
  readonly timings: AlertTimings;
  /** Whether another worker evaluates: this one then only reads. */
  readonly isReadOnly?: boolean;
  /** Called within the transaction, with the health that it read; null to read none unless it evaluates. */
  readonly onHealth?: ((reader: Reader, health: MirrorHealth) => Promise<void>) | null;
}

export interface Evaluation {
  /** Whether it evaluated: only if that is due and no other worker does. */
  readonly hasEvaluated: boolean;
  /** The messages to send, those of before included; none if another worker evaluates. */
  readonly pending: readonly PendingNotice[];
}

interface Changed {
  readonly id: number;
  readonly code: string;
  readonly resource: string | null;
}

/** Throws: the database's errors; what `onHealth` throws. */
export async function evaluateAlerts(
  { db, mirrorSchema, log }: Reader & { readonly log: Logger },
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { isReadOnly = false, onHealth = null, channels } = options;
  const outcome = await transact(db, async (trx) => {
    const reader = { db: trx, mirrorSchema };
    const isClaimed = !isReadOnly && (await claimEvaluation(trx));
    const known = isClaimed ? await readUnresolved(trx) : [];
    const health = isClaimed || onHealth !== null ? (await readHealth(reader)).health : null;
    if (health !== null) await onHealth?.(reader, health);
    const changes =
      isClaimed && health !== null
        ? await write(trx, decide(known, findCauses(health, options)), options)
        : null;
    return { changes, pending: isReadOnly ? [] : await readPending(trx, channels) };
  });
  const { changes, pending } = outcome;
  for (const { id, ...what } of changes?.opened ?? []) log.warn({ alert: id, ...what }, 'alert.opened');
  for (const { id, ...what } of changes?.resolved ?? []) log.info({ alert: id, ...what }, 'alert.resolved');
  return { hasEvaluated: changes !== null, pending };
}

async function write(
  trx: DatabaseTransaction,
  decision: Decision,
  { channels, timings }: EvaluateOptions,
): Promise<{ readonly opened: readonly Changed[]; readonly resolved: readonly Changed[] }> {
  const opened = [...(await writeNoticed(trx, decision)), ...(await writeOpened(trx, decision))];
  const resolved = await writeResolved(trx, decision);
  await queueOpened(trx, channels);
  await queueResolved(
    trx,
    resolved.map(({ id }) => id),
  );
  await setNextEvaluation(trx, timings);
  return { opened, resolved };
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
