// The message instead of a view: what went wrong, and what to do. It names no host and shows no error: the reason is
// in the log.

import { describeError, errorCode } from '../base/describe-error.ts';
import { AccessRefused, Busy, DatabaseUnreachable } from '../base/errors.ts';
import { NoAnswer } from '../base/within.ts';
import { asDatabaseError, isWithoutTables, refusesAll } from '../db/database-errors.ts';
import type { Refusal } from './access.ts';

export interface Failure {
  readonly status: number;
  readonly title: string;
  /** A sentence or two. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Soon enough for a database that starts again. */
const RETRY = { 'retry-after': '5' };

export const NOT_FOUND: Failure = {
  status: 404,
  title: 'Not found',
  text: 'There is no such view, or its record was deleted by age.',
};

export const NO_PROGRAM: Failure = {
  status: 404,
  title: 'No such program',
  text: 'PROGRAMS_FILE lists no program of this name, or not yet: the worker reads a changed file within half a minute.',
};

export const QUEUE_AWAY: Failure = {
  status: 503,
  title: 'The queue does not answer',
  text: 'The worker waits for it and goes on by itself. To see why it does not answer, run: affiliate-mirror doctor',
  headers: RETRY,
};

/** Returns the message for a view that failed. */
export function describeFailure(error: unknown): Failure {
  const found = asDatabaseError(error);
  const isAway = found instanceof DatabaseUnreachable || found instanceof NoAnswer;
  if (isAway || refusesAll(found)) {
    return {
      status: 503,
      title: 'The database does not answer',
      text: 'The worker waits for it and goes on by itself. Check that Postgres runs; the log of the worker has the reason.',
      headers: RETRY,
    };
  }
  if (found instanceof Busy) {
    return {
      status: 503,
      title: 'Starting',
      text: 'The worker is not up yet. Reload in a moment.',
      headers: RETRY,
    };
  }
  if (found instanceof AccessRefused) {
    return {
      status: 503,
      title: 'The database refuses this role',
      text: 'The role of the worker lacks a right. Run: affiliate-mirror doctor',
      headers: RETRY,
    };
  }
  if (isWithoutTables(found)) {
    return {
      status: 503,
      title: 'The tables are not there yet',
      text: 'The schema is not up to date. Run: affiliate-mirror migrate',
      headers: RETRY,
    };
  }
  return {
    status: 500,
    title: 'This view failed',
    text: 'This is a bug of affiliate-mirror. The log of the worker has the reason; the other views may work.',
  };
}

/** Returns the reason for the log. A value that Postgres cannot read may be a person's name: then its code only. */
export function describeReason(error: unknown): string {
  const code = errorCode(error);
  return code.startsWith('22') ? `SQLSTATE ${code}` : describeError(error);
}

/** Returns the message for a request that is refused. */
export function describeRefusal(refusal: Refusal): Failure {
  switch (refusal.kind) {
    case 'method':
      return {
        status: 405,
        title: 'Read only',
        text: 'The status page changes nothing: it answers GET and HEAD only.',
        headers: { allow: 'GET, HEAD' },
      };
    case 'host':
      return {
        status: 421,
        title: 'Not under this name',
        text: 'Without a password, the status page is served to this machine only: open it as 127.0.0.1, have the proxy send that as Host, or set STATUS_PASSWORD.',
      };
    case 'throttled':
      return {
        status: 429,
        title: 'Too many wrong passwords',
        text: `Try again in ${refusal.waitSeconds} seconds.`,
        headers: { 'retry-after': String(refusal.waitSeconds) },
      };
    case 'password':
      return {
        status: 401,
        title: 'A password is needed',
        text:
          refusal.wants === 'people'
            ? 'Personal data are shown with the password of STATUS_PII_PASSWORD. Any user name will do.'
            : 'The status page opens with the password of STATUS_PASSWORD. Any user name will do.',
        headers: { 'www-authenticate': 'Basic realm="affiliate-mirror", charset="UTF-8"' },
      };
  }
}
