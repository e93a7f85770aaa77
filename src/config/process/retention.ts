// Retention in days for history, runs, rejected records, attempts and drift, and the size limit of the database.

import { z } from 'zod';
import { reading } from '../reading.ts';
import { optional, type Values, variable } from '../variable.ts';

/** Days; null is for ever. */
export type Retention = Readonly<ReturnType<typeof readRetention>>;

export function readRetention(variables: Values<typeof RETENTION_VARIABLES>) {
  return {
    history: variables.RETENTION_HISTORY_DAYS,
    runs: variables.RETENTION_RUNS_DAYS,
    rejected: variables.RETENTION_REJECTED_DAYS,
    attempts: variables.RETENTION_ATTEMPTS_DAYS,
    drift: variables.RETENTION_DRIFT_DAYS,
  };
}

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 };

const LONGEST_DAYS = 36_500;

/** Empty means for ever. */
const retentionDays = z
  .string()
  .transform((text) => text.trim())
  .refine(
    (text) => text === '' || (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= LONGEST_DAYS),
    `must be a whole number of days from 1 to ${LONGEST_DAYS}, or empty for ever`,
  )
  .transform((text): number | null => (text === '' ? null : Number(text)));

/** In bytes: `50 GB`. */
const size = reading((text, refuse) => {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?) ?(MB|GB|TB)$/i.exec(text.trim()) ?? [];
  const bytes = Math.round(Number(number) * (UNITS[unit.toUpperCase()] ?? 0));
  return bytes > 0 ? bytes : refuse('must be a size such as 500 MB, 50 GB or 2 TB');
});

/** The variables of this part, as variables.ts lists them. */
export const RETENTION_VARIABLES = {
  RETENTION_HISTORY_DAYS: variable(
    'days that the history (`record_history`) is kept; empty for ever',
    retentionDays,
    '',
  ),
  RETENTION_RUNS_DAYS: variable(
    'days that the run log (`sync_runs`) is kept, but for runs that a row names; empty for ever',
    retentionDays,
    '400',
  ),
  RETENTION_REJECTED_DAYS: variable(
    'days that `rejected_records` are kept; empty for ever',
    retentionDays,
    '400',
  ),
  RETENTION_ATTEMPTS_DAYS: variable(
    'days that the reads of `commission_update_attempts` are kept once their request has ended; empty for ever',
    retentionDays,
    '',
  ),
  RETENTION_DRIFT_DAYS: variable('days that `schema_drift` is kept; empty for ever', retentionDays, '400'),
  DATABASE_SIZE_LIMIT: optional(
    'how large the database may become, such as `50 GB`',
    size,
    "the embedded Postgres: its disk's free space; else not known",
  ),
};
