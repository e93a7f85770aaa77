// The intervals at which a tracked commission is read, in SQL and in words: short while it may still change, long once
// it is settled.

import { type RawBuilder, sql } from 'kysely';

/** Each interval is added by Postgres and read by users. */
const EVERY = {
  /** The longest. */
  voided: '30 days',
  settled: '7 days',
  paid: '24 hours',
  falling_due: '6 hours',
  unpaid: '24 hours',
  unanswered: '1 hour',
} as const;

/** A payment may still be corrected for this long. */
const PAID_LATELY = '30 days';
const DUE_SOON = '2 days';
const DUE_LATELY = '7 days';
const NEW = '7 days';

/** Returns, in SQL, how long after an answer the row `commission` is asked for again. */
export function pollInterval(): RawBuilder<unknown> {
  // A voided commission does not come back. An unpaid one changes while it is new, and around the day on which it falls
  // due; an old debt is read once a day.
  return sql`case
    when commission.voided_at is not null or commission.state = 'voided' then ${EVERY.voided}::interval
    when commission.paid_at > clock_timestamp() - ${PAID_LATELY}::interval then ${EVERY.paid}::interval
    when commission.paid_at is not null then ${EVERY.settled}::interval
    when commission.due_at between clock_timestamp() - ${DUE_LATELY}::interval
                               and clock_timestamp() + ${DUE_SOON}::interval
      or commission.created_at > clock_timestamp() - ${NEW}::interval then ${EVERY.falling_due}::interval
    else ${EVERY.unpaid}::interval
  end`;
}

/** Returns, in SQL, the condition that a tracked commission is to be asked for. */
export function isPollDue(): RawBuilder<boolean> {
  return sql<boolean>`next_poll_at <= clock_timestamp()`;
}

/** Returns, in SQL, how long after a request without an answer the commission is asked for again. */
export function retryInterval(): RawBuilder<unknown> {
  return sql`${EVERY.unanswered}::interval`;
}

/** The schedule in words. */
export const POLL_SCHEDULE: readonly string[] = [
  `unpaid: every ${EVERY.falling_due} while it is younger than ${NEW}, and from ${DUE_SOON} before it falls due to ${DUE_LATELY} after; otherwise every ${EVERY.unpaid}`,
  `paid: every ${EVERY.paid} for ${PAID_LATELY}, then every ${EVERY.settled}`,
  `voided: every ${EVERY.voided}; gone from the affiliate program: only once it is tracked or changed anew`,
  `not answered: again after ${EVERY.unanswered}`,
];
