// Sends the due messages of a channel, one after the other, and records their outcomes.

import pRetry from 'p-retry';
import { describeError } from '../../base/describe-error.ts';
import { AlertNotSent } from '../../base/errors.ts';
import { bundle } from './bundle.ts';
import { type Channel, describeNotices } from './message.ts';
import {
  type ClaimedNotice,
  claimNotices,
  type DueNotice,
  putOff,
  settleSent,
  settleUnsent,
} from './outbox.ts';
import type { AlertTimings } from './timings.ts';

/** Once a second, while the claim lasts. */
const SETTLE_RETRIES = { retries: Number.POSITIVE_INFINITY, minTimeout: 1000, factor: 1 };

/**
 * Sends the messages of the channel until one must be tried later; `programs` are the unsettled ones of each program.
 *
 * Throws: the signal's reason when aborted; the database's errors.
 */
export async function sendDue(
  channel: Channel,
  programs: readonly (readonly DueNotice[])[],
  timings: AlertTimings,
  signal: AbortSignal,
): Promise<void> {
  const ofChannel = programs.map((notices) => notices.filter((notice) => notice.channel === channel.kind));
  for (const due of bundle(ofChannel)) {
    signal.throwIfAborted();
    const claimed = await claimNotices(due, timings);
    const mayGoOn = await sendClaimed(channel, claimed, timings, signal);
    // Another worker sends what is missing: later messages of that program must not overtake it.
    if (!mayGoOn || claimed.length < due.length) return;
  }
}

/** Returns whether the next message may be sent at once. */
async function sendClaimed(
  channel: Channel,
  claimed: readonly ClaimedNotice[],
  timings: AlertTimings,
  signal: AbortSignal,
): Promise<boolean> {
  const needless = claimed.filter((notice) => notice.kind === 'resolved' && notice.opened_state !== 'sent');
  await settleUnsent(needless, { state: 'skipped', code: null });
  const [first, ...others] = claimed.filter((notice) => !needless.includes(notice));
  return first === undefined || (await sendAsOne(channel, [first, ...others], timings, signal));
}

async function sendAsOne(
  channel: Channel,
  notices: readonly [ClaimedNotice, ...ClaimedNotice[]],
  timings: AlertTimings,
  signal: AbortSignal,
): Promise<boolean> {
  let problem: string | null;
  try {
    // A worker that stops waits for the answer. Otherwise the next one would send the message again.
    problem = await channel.send(describeNotices(notices), AbortSignal.timeout(timings.sendTimeoutMs));
  } catch (error) {
    if (!(error instanceof AlertNotSent)) throw error;
    const waits_ms = await settleFailure(notices, error, timings);
    for (const notice of notices) {
      const line = { ...about(channel, notice), waits_ms, reason: describeError(error) };
      if (waits_ms === null) notice.program.log.error(line, 'alert.notice_given_up');
      else notice.program.log.warn(line, 'alert.notice_failed');
    }
    return waits_ms === null;
  }
  // An accepted message must not be sent again only because the database is away for a moment.
  await pRetry(() => settleSent(notices), {
    ...SETTLE_RETRIES,
    maxRetryTime: timings.claimMs,
    // A worker that stops tries at least once.
    shouldRetry: () => !signal.aborted,
  });
  for (const notice of notices) {
    const line = about(channel, notice);
    notice.program.log.info(line, 'alert.notice_sent');
    if (problem !== null) {
      notice.program.log.warn({ ...line, reason: problem }, 'alert.notice_refused_in_part');
    }
  }
  return true;
}

function about(channel: Channel, { alert_id: alert, code, kind, attempts: attempt }: ClaimedNotice) {
  return { alert, code, kind, channel: channel.kind, attempt };
}

/** Returns the wait before the next attempt, in milliseconds; null if the messages are given up. */
async function settleFailure(
  notices: readonly [ClaimedNotice, ...ClaimedNotice[]],
  error: AlertNotSent,
  { giveUpAfterMs, ...pauses }: AlertTimings,
): Promise<number | null> {
  const ages = notices.map(({ age_ms }) => age_ms);
  if (error.retry === 'never' || Math.min(...ages) >= giveUpAfterMs) {
    await settleUnsent(notices, { state: 'given_up', code: error.reasonCode });
    return null;
  }
  const waitMs = Math.round(pauseMs(notices[0].attempts, error.retryAfterMs, pauses));
  await putOff(notices, error, waitMs);
  return waitMs;
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
