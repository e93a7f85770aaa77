// The messages as rows: written in the transaction of their alert, and sent by the worker that claims them, at least
// once each. A claim ends by the database's clock. A worker that is suspended while it sends, for longer than its
// claim, may send a message that another worker has sent by then. The messages of one channel are sent in order: an
// alert is never resolved before it was opened.

import { sql } from 'kysely';
import type { AlertNotSent } from '../../base/errors.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import type { AlertTimings } from './timings.ts';

export type ChannelKind = 'webhook' | 'email';

/** Writes a message for each open alert and channel without one: also for a channel that was set up later. */
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

/** Writes a message for the channels that were, or may have been, sent the message of the opening. */
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
  /** Since it was written. */
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
  /** State of the message of the opening; null for that message itself. */
  readonly opened_state: string | null;
}

/** Claims the oldest unsent message of the channel; null if there is none, or it is not due. */
export async function claimNotice(
  db: Database,
  channel: ChannelKind,
  { claimMs }: Pick<AlertTimings, 'claimMs'>,
): Promise<ClaimedNotice | null> {
  // Waits for the lock on the oldest instead of skipping it: the next one must not overtake it.
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

/** Marks the message as accepted, also if another worker has the claim by now. */
export async function settleSent(db: Database, { id }: ClaimedNotice): Promise<void> {
  await sql`
    update alert_notices
    set state = 'sent', claimed_until = null, is_in_doubt = false, last_error_code = null, settled_at = clock_timestamp()
    where id = ${id} and state in ('pending', 'given_up')`.execute(db);
}

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

/** Postpones the message after a failure, unless another worker has claimed it. */
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

/** With these codes the receiver itself asked for the wait. */
const ASKED_FOR = ['HTTP_429', 'HTTP_503'];

/** Retries messages now that wait after a refusal: a restart may have brought the right address of the receiver. */
export async function tryAgainNow(db: Database, channels: readonly ChannelKind[]): Promise<void> {
  await sql`
    update alert_notices set next_attempt_at = clock_timestamp()
    where channel = any(${[...channels]}::text[]) and state = 'pending' and next_attempt_at > clock_timestamp()
      and last_error_code <> all(${ASKED_FOR}::text[])`.execute(db);
}
