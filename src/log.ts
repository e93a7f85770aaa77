// The logger: structured lines on stderr, readable ones where that is a terminal. Stdout is for data.

import { type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';

export type { Logger };

/** Fields whose values are never printed, on any of the first three levels of a logged object. */
const SECRET_FIELDS = ['secret', 'password', 'authorization', 'AFFILIATE_API_SECRET'];

/**
 * Returns the process's root logger, writing to stderr: NDJSON for machines, coloured lines on a terminal.
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

/** Returns the level for a command that shows its progress to a person: only warnings, unless another level is set. */
export function calmLevel(logLevel: string): string {
  return logLevel === 'info' ? 'warn' : logLevel;
}
