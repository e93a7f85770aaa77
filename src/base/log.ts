// The logger: structured lines on stderr, readable lines on a terminal. Stdout is for data.

import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { describeError, errorCode } from './describe-error.ts';
import { AppError } from './errors.ts';
import { asPlainText } from './plain-text.ts';
import { describeTrace } from './span.ts';
import { hasStderrColors, isStderrTerminal, writeErrorText } from './terminal.ts';

export type { Logger };

/** Fields whose values are never printed, on any of the first three levels of a logged object. */
const SECRET_FIELDS = [
  'secret',
  'password',
  'piiPassword',
  'smtpUrl',
  'authorization',
  'secretAccessKey',
  'AFFILIATE_API_SECRET',
  'AWS_SECRET_ACCESS_KEY',
  'ALERT_WEBHOOK_URL',
  'SMTP_URL',
];

/** Buffered until the log can be written again. */
const MOST_UNWRITTEN_BYTES = 1_048_576;

/**
 * Returns the process's root logger, writing to stderr: NDJSON for machines, a line for each event on a terminal, in
 * colour unless NO_COLOR says otherwise (FORCE_COLOR: in any case). An error of the catalogue shows its message there,
 * and only an unforeseen one its stack. Secrets are redacted by field name here; connection strings are never
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
  // A full disk under the log, or a log without a reader, stops no work. Lines beyond the buffer are lost.
  destination.on('error', () => {});
  return pino(options, destination);
}

/** Writes each event as one line of text, such as `12:00:01 WARN: api.request_retried {"attempt":1}`. */
function makeLineWriter(colorize: boolean): DestinationStream {
  const asLine = prettyFactory({
    colorize,
    singleLine: true,
    errorLikeObjectKeys: [],
    translateTime: 'SYS:HH:MM:ss',
  });
  // Before colours are added, all control characters are foreign. JSON itself escapes the rest.
  return { write: (event) => writeErrorText(asLine(asPlainText(event))) };
}

/**
 * Returns a sentence for an error of the catalogue, the database or the network, which have a code. Any other error,
 * also one with a code of Node's own (ERR_…), is a bug and keeps its stack.
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
