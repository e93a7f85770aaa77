// Sends the due messages of a channel, one after the other, and records their outcomes.

import pRetry from 'p-retry';
import { describeError } from '../../base/describe-error.ts';
import { AlertNotSent } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../db/database.ts';
import type { Channel } from './message.ts';
import { describeNotice } from './message.ts';
import { type ClaimedNotice, claimNotice, putOff, settleSent, settleUnsent } from './outbox.ts';
import type { AlertTimings } from './timings.ts';

/** Once a second, while the claim lasts. */
const SETTLE_RETRIES = { retries: Number.POSITIVE_INFINITY, minTimeout: 1000, factor: 1 };

/** Throws: the signal's reason when aborted; the database's errors. */
export async function sendDue(
  deps: { db: Database; log: Logger },
  channel: Channel,
  timings: AlertTimings,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const notice = await claimNotice(deps.db, channel.kind, timings);
    if (notice === null || !(await sendOne(deps, channel, notice, timings, signal))) return;
  }
}

/** Returns whether the next message may be sent at once. */
async function sendOne(
  { db, log }: { db: Database; log: Logger },
  channel: Channel,
  notice: ClaimedNotice,
  timings: AlertTimings,
  signal: AbortSignal,
): Promise<boolean> {
  const { alert_id: alert, kind, code, attempts: attempt } = notice;
  const about = { alert, code, kind, channel: channel.kind, attempt };
  if (kind === 'resolved' && notice.opened_state !== 'sent') {
    await settleUnsent(db, notice, { state: 'skipped', code: null });
    return true;
  }
  let problem: string | null;
  try {
    // A worker that stops waits for the answer. Otherwise the next one would send the message again.
    problem = await channel.send(describeNotice(notice), AbortSignal.timeout(timings.sendTimeoutMs));
  } catch (error) {
    if (!(error instanceof AlertNotSent)) throw error;
    const failure = await settleFailure(db, notice, error, timings);
    const line = { ...about, ...failure, reason: describeError(error) };
    if (failure.waits_ms === null) log.error(line, 'alert.notice_given_up');
    else log.warn(line, 'alert.notice_failed');
    return failure.waits_ms === null;
  }
  // An accepted message must not be sent again only because the database is away for a moment.
  await pRetry(() => settleSent(db, notice), {
    ...SETTLE_RETRIES,
    maxRetryTime: timings.claimMs,
    // A worker that stops tries at least once.
    shouldRetry: () => !signal.aborted,
  });
  log.info(about, 'alert.notice_sent');
  if (problem !== null) log.warn({ ...about, reason: problem }, 'alert.notice_refused_in_part');
  return true;
}

async function settleFailure(
  db: Database,
  notice: ClaimedNotice,
  error: AlertNotSent,
  { giveUpAfterMs, ...pauses }: AlertTimings,
): Promise<{ waits_ms: number | null }> {
  if (error.retry === 'never' || notice.age_ms >= giveUpAfterMs) {
    await settleUnsent(db, notice, { state: 'given_up', code: error.reasonCode });
    return { waits_ms: null };
  }
  const waitMs = Math.round(pauseMs(notice.attempts, error.retryAfterMs, pauses));
  await putOff(db, notice, error, waitMs);
  return { waits_ms: waitMs };
}

/** The wait that the receiver asks for, within bounds; else twice the last one, less a random part. */
export function pauseMs(
  attempts: number,
  retryAfterMs: number | null,
  { firstPauseMs, longestPauseMs }: Pick<AlertTimings, 'firstPauseMs' | 'longestPauseMs'>,
  random: () => number = Math.random,
): number {
  if (retryAfterMs !== null) return Math.min(longestPauseMs, Math.max(retryAfterMs, 1000));
  const doubled = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempts - 1, 30));
  return doubled * (1 - random() / 2);
}
