// The messages as rows: written with the change that they are about, and sent by whoever claims them: at least once
// each, and by one worker at a time.
//
// A claim ends by the database's clock. A worker that is suspended for longer than its claim while it sends may send a
// message that another one has sent by then. The messages of one channel are sent one after the other, in order: an
// alert is never resolved before it was opened.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import type { AlertNotSent } from '../errors.ts';
import type { AlertTimings } from './timings.ts';

export type ChannelKind = 'webhook' | 'email';

/**
 * Writes a message for each open alert and channel that has none: also for a channel that was set up after it opened.
 */
export async function queueOpened(trx: DatabaseTransaction, channels: readonly ChannelKind[]): Promise<void> {
  if (channels.length === 0) return;
  await sql`
    insert into alert_notices (alert_id, kind, channel)
    select id, 'opened', name
    from alerts cross join unnest(${[...channels]}::text[]) as set_up (name)
    where opened_at is not null and resolved_at is null and not exists (
      select from alert_notices written
      where written.alert_id = alerts.id and written.kind = 'opened' and written.channel = name)
    order by id`.execute(trx);
}

/**
 * Writes that it is well again to whoever was, or may have been, sent that it was not; to the others, nothing at all.
 */
export async function queueResolved(trx: DatabaseTransaction, alertIds: readonly number[]): Promise<void> {
  if (alertIds.length === 0) return;
  await sql`
    update alert_notices set state = 'skipped', settled_at = clock_timestamp()
    where alert_id = any(${alertIds}::bigint[]) and kind = 'opened' and state = 'pending'
      and claimed_until is null and not is_in_doubt`.execute(trx);
  await sql`
    insert into alert_notices (alert_id, kind, channel)
    select alert_id, 'resolved', channel from alert_notices
    where alert_id = any(${alertIds}::bigint[]) and kind = 'opened' and state in ('pending', 'sent')
    order by id`.execute(trx);
}

export interface ClaimedNotice {
  readonly id: number;
  readonly kind: 'opened' | 'resolved';
  readonly attempts: number;
  /** How long ago it was written. */
  readonly age_ms: number;
  readonly uid: string;
  readonly alert_id: number;
  readonly code: string;
  readonly what: string;
  readonly fix: string;
  readonly error_code: string | null;
  readonly since: Timestamp;
  readonly resolved_at: Timestamp | null;
  readonly database: string;
  readonly schema: string;
  /** What became of the message that it was not well; null for that message itself. */
  readonly opened_state: string | null;
}

/** Returns the oldest unsent message of the channel, now claimed; null where there is none, or it is not due. */
export async function claimNotice(
  db: Database,
  channel: ChannelKind,
  { claimMs }: Pick<AlertTimings, 'claimMs'>,
): Promise<ClaimedNotice | null> {
  // The lock on the oldest is waited for, not skipped: the next one must not overtake it.
  const { rows } = await sql<ClaimedNotice>`
    with oldest as materialized (
      select id from alert_notices where channel = ${channel} and state = 'pending'
      order by id limit 1
      for update
    )
    update alert_notices notice
    set attempts = attempts + 1, is_in_doubt = is_in_doubt or claimed_until is not null,
      claimed_until = clock_timestamp() + make_interval(secs => ${claimMs / 1000})
    from oldest, alerts alert
    where notice.id = oldest.id and alert.id = notice.alert_id and notice.state = 'pending'
      and notice.next_attempt_at <= clock_timestamp()
      and (notice.claimed_until is null or notice.claimed_until <= clock_timestamp())
    returning notice.id, notice.kind, notice.attempts,
      (extract(epoch from clock_timestamp() - notice.made_at) * 1000)::float8 as age_ms,
      alert.uid, alert.id as alert_id, alert.code, alert.what, alert.fix, alert.error_code,
      coalesce(alert.since, alert.noticed_at) as since, alert.resolved_at,
      current_database()::text as database, current_schema()::text as schema,
      case when notice.kind = 'resolved' then (
        select opened.state from alert_notices opened
        where opened.alert_id = notice.alert_id and opened.channel = notice.channel and opened.kind = 'opened'
      ) end as opened_state`.execute(db);
  return rows[0] ?? null;
}

/** Notes that the message was accepted, whoever has the claim by now. */
export async function settleSent(db: Database, { id }: ClaimedNotice): Promise<void> {
  await sql`
    update alert_notices
    set state = 'sent', claimed_until = null, is_in_doubt = false, last_error_code = null, settled_at = clock_timestamp()
    where id = ${id} and state in ('pending', 'given_up')`.execute(db);
}

/** Notes that it will not be sent. */
export async function settleUnsent(
  db: Database,
  { id, attempts }: ClaimedNotice,
  { state, code }: { state: 'given_up' | 'skipped'; code: string | null },
): Promise<void> {
  await sql`
    update alert_notices
    set state = ${state}, claimed_until = null, last_error_code = ${code}, settled_at = clock_timestamp()
    where id = ${id} and state = 'pending' and attempts = ${attempts}`.execute(db);
}

/** Puts the message off after a failure. Nothing, where its claim has ended and another worker has it. */
export async function putOff(
  db: Database,
  { id, attempts }: ClaimedNotice,
  { reasonCode, mayHaveArrived }: Pick<AlertNotSent, 'reasonCode' | 'mayHaveArrived'>,
  waitMs: number,
): Promise<void> {
  await sql`
    update alert_notices
    set claimed_until = null, is_in_doubt = is_in_doubt or ${mayHaveArrived}, last_error_code = ${reasonCode},
      next_attempt_at = clock_timestamp() + make_interval(secs => ${waitMs / 1000})
    where id = ${id} and state = 'pending' and attempts = ${attempts}`.execute(db);
}

/** What a receiver asked for itself holds on. */
const ASKED_FOR = ['HTTP_429', 'HTTP_503'];

/**
 * Has the messages tried again now that wait for a receiver which refused them: a restart may have brought its right
 * address.
 */
export async function tryAgainNow(db: Database, channels: readonly ChannelKind[]): Promise<void> {
  await sql`
    update alert_notices set next_attempt_at = clock_timestamp()
    where channel = any(${[...channels]}::text[]) and state = 'pending' and next_attempt_at > clock_timestamp()
      and last_error_code <> all(${ASKED_FOR}::text[])`.execute(db);
}
