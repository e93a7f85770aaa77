// The logger: structured lines on stderr, readable ones where that is a terminal. Stdout is for data.

import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { describeError, errorCode } from './describe-error.ts';
import { AppError } from './errors.ts';
import { asPlainText } from './plain-text.ts';
import { hasStderrColors, isStderrTerminal, writeErrorText } from './terminal.ts';
import { describeTrace } from './tracing/span.ts';

export type { Logger };

/** Fields whose values are never printed, on any of the first three levels of a logged object. */
const SECRET_FIELDS = [
  'secret',
  'password',
  'piiPassword',
  'sentinelPassword',
  'smtpUrl',
  'authorization',
  'secretAccessKey',
  'sessionToken',
  'AFFILIATE_API_SECRET',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'ALERT_WEBHOOK_URL',
  'SMTP_URL',
];

/** Kept for when a log can be written again. */
const MOST_UNWRITTEN_BYTES = 1_048_576;

/**
 * Returns the process's root logger, writing to stderr: NDJSON for machines, a line for each event on a terminal, in
 * colour unless NO_COLOR says otherwise (FORCE_COLOR: in any case). An error of the catalogue shows its message there,
 * and only one that nobody foresaw its stack. Secrets are redacted by field name here; connection strings are never
 * logged at all.
 */
export function makeLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    mixin: describeTrace,
    redact: {
      paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[secret]',
    },
  };
  // Synchronous on purpose, both of them: a line logged just before the process ends must not be lost.
  if (isStderrTerminal()) {
    return pino({ ...options, serializers: { err: describeForPeople } }, makeLineWriter(hasStderrColors()));
  }
  const destination = pino.destination({ fd: 2, sync: true, maxLength: MOST_UNWRITTEN_BYTES });
  // A full disk under the log, or a log that nobody reads any more, stops no work. What does not fit is lost.
  destination.on('error', () => {});
  return pino(options, destination);
}

/** Returns what writes each event as one line of text, such as `12:00:01 WARN: api.request_retried {"attempt":1}`. */
function makeLineWriter(colorize: boolean): DestinationStream {
  const asLine = prettyFactory({
    colorize,
    singleLine: true,
    errorLikeObjectKeys: [],
    translateTime: 'SYS:HH:MM:ss',
  });
  // Before it is coloured: what is obeyed instead of shown is somebody else's then. JSON itself escapes the rest.
  return { write: (event) => writeErrorText(asLine(asPlainText(event))) };
}

/**
 * Returns an error as a terminal shows it: in a sentence where it is one of the catalogue's, the database's or the
 * network's, which have a code. What Node itself codes (ERR_…) is a bug, like everything else, and keeps its stack.
 */
function describeForPeople(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = errorCode(error);
  if (code === '' || (code.startsWith('ERR_') && !(error instanceof AppError)))
    return stdSerializers.err(error);
  return `${describeError(error)} (${code})`;
}

/** Returns the level for a command that shows its progress to a person: only warnings, unless another level is set. */
export function calmLevel(logLevel: string): string {
  return logLevel === 'info' ? 'warn' : logLevel;
}
