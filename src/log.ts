// The one logger: structured lines on stderr, pretty where a person watches. Stdout belongs to data.

import { type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';

export type { Logger };

/** Field names that are never printed, wherever in a logged object they stand. */
const SECRET_FIELDS = ['secret', 'password', 'authorization', 'AFFILIATE_API_SECRET'];

/**
 * Gives back the process's root logger, writing to stderr: NDJSON for machines, coloured lines on a terminal.
 * Secrets are redacted by field name here; connection strings are never logged at all.
 */
export function makeLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: {
      paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[secret]',
    },
  };
  // Synchronous on purpose: a line logged just before the process ends must not be lost.
  if (process.stderr.isTTY) {
    return pino(
      options,
      pretty({ destination: 2, sync: true, colorize: true, translateTime: 'SYS:HH:MM:ss' }),
    );
  }
  return pino(options, pino.destination({ fd: 2, sync: true }));
}
