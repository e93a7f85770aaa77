// The messages as rows of their program's schema: written in the transaction of their alert, and sent by the worker
// that claims them, at least once each. A claim ends by the database's clock. A worker that is suspended while it
// sends, for longer than its claim, may send a message that another worker has sent by then. The messages of one
// channel are sent in order: an alert is never resolved before it was opened.
//
// The messages that are sent as one (bundle.ts) are claimed, put off and settled in one transaction, whichever schemas
// they are in. So after a crash all of them are unsettled, and their equal times make them one again.

import { type RawBuilder, sql } from 'kysely';
import type { AlertNotSent } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { mirrorTable, type Reader } from '../../reports/figure.ts';
import type { AlertTimings } from './timings.ts';

export type ChannelKind = 'webhook' | 'email';

/** The program of an alert. */
export interface AlertedProgram extends Reader {
  /** Null if it is not listed. */
  readonly name: string | null;
  readonly log: Logger;
}

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

/** A message that is not settled, as one transaction saw it. */
export interface PendingNotice {
  readonly id: number;
  readonly channel: ChannelKind;
  readonly kind: 'opened' | 'resolved';
  readonly alert_id: number;
  readonly code: string;
  readonly resource: string | null;
  readonly error_code: string | null;
  /** Equal for messages that were last tried as one; null before the first try. */
  readonly tried: string | null;
  /** Whether it waits for no claim, and for no time. */
  readonly is_due: boolean;
}

/** Returns the messages that are not settled, in their order. */
export async function readPending(
  trx: DatabaseTransaction,
  channels: readonly ChannelKind[],
): Promise<readonly PendingNotice[]> {
  if (channels.length === 0) return [];
  const { rows } = await sql<PendingNotice>`
    select notice.id, channel, kind, alert_id, code, resource, error_code,
      case when attempts > 0 then coalesce(claimed_until, next_attempt_at)::text end as tried,
      next_attempt_at <= clock_timestamp() and coalesce(claimed_until <= clock_timestamp(), true) as is_due
    from alert_notices notice join alerts alert on alert.id = alert_id
    where channel = any(${[...channels]}::text[]) and state = 'pending'
    order by notice.id`.execute(trx);
  return rows;
}

export interface DueNotice extends PendingNotice {
  readonly program: AlertedProgram;
}

export interface ClaimedNotice {
  readonly program: AlertedProgram;
  readonly id: number;
  readonly kind: 'opened' | 'resolved';
  readonly attempts: number;
  /** Since it was written. */
  readonly age_ms: number;
  readonly uid: string;
  readonly alert_id: number;
  readonly code: string;
  readonly resource: string | null;
  readonly what: string;
  readonly fix: string;
  readonly error_code: string | null;
  readonly since: Timestamp;
  readonly resolved_at: Timestamp | null;
  readonly database: string;
  /** State of the message of the opening; null for that message itself. */
  readonly opened_state: string | null;
}

/** Claims the messages; leaves out those that another worker has claimed or settled since they were read. */
export async function claimNotices(
  due: readonly DueNotice[],
  { claimMs }: Pick<AlertTimings, 'claimMs'>,
): Promise<readonly ClaimedNotice[]> {
  return await forEachNotice(due, async (trx, { id, program }) => {
    const notices = mirrorTable(program, 'alert_notices');
    const { rows } = await sql<Omit<ClaimedNotice, 'program'>>`
      update ${notices} notice
      set attempts = attempts + 1, is_in_doubt = is_in_doubt or claimed_until is not null,
        claimed_until = now() + make_interval(secs => ${claimMs / 1000})
      from ${mirrorTable(program, 'alerts')} alert
      where notice.id = ${id} and alert.id = notice.alert_id and notice.state = 'pending'
        and notice.next_attempt_at <= clock_timestamp()
        and (notice.claimed_until is null or notice.claimed_until <= clock_timestamp())
      returning notice.id, notice.kind, notice.attempts,
        (extract(epoch from clock_timestamp() - notice.made_at) * 1000)::float8 as age_ms,
        alert.uid, alert.id as alert_id, alert.code, alert.resource, alert.what, alert.fix, alert.error_code,
        coalesce(alert.since, alert.noticed_at) as since, alert.resolved_at,
        current_database()::text as database,
        case when notice.kind = 'resolved' then (
          select opened.state from ${notices} opened
          where opened.alert_id = notice.alert_id and opened.channel = notice.channel and opened.kind = 'opened'
        ) end as opened_state`.execute(trx);
    return rows.map((row) => ({ ...row, program }));
  });
}

type Claim = Pick<ClaimedNotice, 'id' | 'attempts' | 'program'>;

/** Marks the messages as accepted, also if another worker has a claim by now. */
export async function settleSent(claimed: readonly Claim[]): Promise<void> {
  const changes = sql`
    state = 'sent', claimed_until = null, is_in_doubt = false, last_error_code = null, settled_at = clock_timestamp()`;
  await change(claimed, changes, () => sql`state in ('pending', 'given_up')`);
}

export async function settleUnsent(
  claimed: readonly Claim[],
  { state, code }: { state: 'given_up' | 'skipped'; code: string | null },
): Promise<void> {
  const changes = sql`
    state = ${state}, claimed_until = null, last_error_code = ${code}, settled_at = clock_timestamp()`;
  await change(claimed, changes, isOwnClaim);
}

/** Postpones the messages after a failure, but for those that another worker has claimed. */
export async function putOff(
  claimed: readonly Claim[],
  { reasonCode, mayHaveArrived }: Pick<AlertNotSent, 'reasonCode' | 'mayHaveArrived'>,
  waitMs: number,
): Promise<void> {
  const changes = sql`
    claimed_until = null, is_in_doubt = is_in_doubt or ${mayHaveArrived}, last_error_code = ${reasonCode},
    next_attempt_at = now() + make_interval(secs => ${waitMs / 1000})`;
  await change(claimed, changes, isOwnClaim);
}

function isOwnClaim({ attempts }: Claim): RawBuilder<unknown> {
  return sql`state = 'pending' and attempts = ${attempts}`;
}

async function change(
  claimed: readonly Claim[],
  changes: RawBuilder<unknown>,
  condition: (claim: Claim) => RawBuilder<unknown>,
): Promise<void> {
  await forEachNotice(claimed, async (trx, claim) => {
    const notices = mirrorTable(claim.program, 'alert_notices');
    await sql`update ${notices} set ${changes} where id = ${claim.id} and ${condition(claim)}`.execute(trx);
    return [];
  });
}

/** In one transaction, and always in the same order, so that two workers do not wait for each other. */
async function forEachNotice<Notice extends Pick<ClaimedNotice, 'id' | 'program'>, Result>(
  notices: readonly Notice[],
  work: (trx: DatabaseTransaction, notice: Notice) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const [first] = notices;
  if (first === undefined) return [];
  const keyOf = ({ program, id }: Notice) => `${program.mirrorSchema} ${id}`;
  const ordered = notices.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return await transact(first.program.db, async (trx) => {
    const results: Result[] = [];
    for (const notice of ordered) results.push(...(await work(trx, notice)));
    return results;
  });
}

/** With these codes the receiver itself asked for the wait. */
const ASKED_FOR = ['HTTP_429', 'HTTP_503'];

/**
 * Retries messages now that wait after a refusal: a restart may have brought the right address of the receiver. Their
 * time is the same in every schema, so that those of one message stay one.
 */
export async function tryAgainNow(db: Database, channels: readonly ChannelKind[]): Promise<void> {
  await sql`
    update alert_notices set next_attempt_at = date_trunc('minute', clock_timestamp())
    where channel = any(${[...channels]}::text[]) and state = 'pending' and next_attempt_at > clock_timestamp()
      and last_error_code <> all(${ASKED_FOR}::text[])`.execute(db);
}
