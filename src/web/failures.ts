// What is shown instead of a page: what went wrong in plain words, and what to do. Names no host and shows no error:
// the reason is in the log.

import { asDatabaseError } from '../db/as-database-error.ts';
import { describeError, errorCode } from '../describe-error.ts';
import { AccessRefused, Busy, DatabaseUnreachable } from '../errors.ts';
import { NoAnswer } from '../within.ts';
import type { Refusal } from './door.ts';

export interface Failure {
  readonly status: number;
  readonly title: string;
  /** A sentence or two. */
  readonly text: string;
  /** What the answer says besides. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Soon enough for a database that starts again. */
const RETRY = { 'retry-after': '5' };

export const NOT_FOUND: Failure = {
  status: 404,
  title: 'Not found',
  text: 'There is no such page, or what it was about is no longer kept.',
};

export const STARTING: Failure = {
  status: 503,
  title: 'Starting',
  text: 'The database is not up yet. The page is there in a moment.',
  headers: RETRY,
};

export const QUEUE_AWAY: Failure = {
  status: 503,
  title: 'The queue does not answer',
  text: 'The worker waits for it and goes on by itself. Look again once it does. To see why, run: affiliate-mirror doctor',
  headers: RETRY,
};

/** Returns what is shown where a page failed. */
export function describeFailure(error: unknown): Failure {
  const found = asDatabaseError(error);
  const isAway = found instanceof DatabaseUnreachable || found instanceof NoAnswer;
  if (isAway || REFUSES_ALL.test(errorCode(found))) {
    return {
      status: 503,
      title: 'The database does not answer',
      text: 'The worker waits for it and goes on by itself. Check that Postgres runs; the log of the worker says what failed.',
      headers: RETRY,
    };
  }
  if (found instanceof Busy) {
    return { ...STARTING, text: 'The worker is not up yet. The page is there in a moment.' };
  }
  if (found instanceof AccessRefused) {
    return {
      status: 503,
      title: 'The database refuses this role',
      text: 'The role of the worker lacks a right. Run: affiliate-mirror doctor',
      headers: RETRY,
    };
  }
  if (MISSING_TABLES.has(errorCode(found))) {
    return {
      status: 503,
      title: 'The tables are not there yet',
      text: 'The schema was not brought up to date. Run: affiliate-mirror migrate',
      headers: RETRY,
    };
  }
  return {
    status: 500,
    title: 'This page failed',
    text: 'That is a mistake of affiliate-mirror. The log of the worker says what happened; the other pages may work.',
  };
}

/** Returns what the log says of it. A value that Postgres cannot read may be somebody's name: then its code alone. */
export function describeReason(error: unknown): string {
  const code = errorCode(error);
  return code.startsWith('22') ? `SQLSTATE ${code}` : describeError(error);
}

/** Returns what is shown to whoever is not let in. */
export function describeRefusal(refusal: Refusal): Failure {
  switch (refusal.kind) {
    case 'method':
      return {
        status: 405,
        title: 'Only for reading',
        text: 'This page changes nothing: it answers GET and HEAD alone.',
        headers: { allow: 'GET, HEAD' },
      };
    case 'host':
      return {
        status: 421,
        title: 'Not under this name',
        text: 'Without a password, the page is served to this machine alone: open it as 127.0.0.1, have the proxy send that as Host, or set STATUS_PASSWORD.',
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
            ? 'Personal data are shown to whoever has the password of STATUS_PII_PASSWORD. Any user name will do.'
            : 'The page opens with the password of STATUS_PASSWORD. Any user name will do.',
        headers: { 'www-authenticate': 'Basic realm="affiliate-mirror", charset="UTF-8"' },
      };
  }
}

/**
 * SQLSTATE classes of a server that serves nobody now: connection, authorization, a database that is gone or closed,
 * resources, an operator, the system. Source: PostgreSQL manual, appendix A.
 */
const REFUSES_ALL = /^(08|28|3D|53|55|57|58)...$/;

/** SQLSTATE of a table, a column, a function or a schema that does not exist. */
const MISSING_TABLES = new Set(['42P01', '42703', '42883', '3F000']);
