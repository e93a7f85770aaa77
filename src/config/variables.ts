// Every environment variable of affiliate-mirror, with its rules, meaning and default; those of a larger part are in
// its file.

import { z } from 'zod';
import { ALERT_VARIABLES } from './alerts.ts';
import { AMOUNT_UNITS } from './amount-unit.ts';
import { databaseUrlSchema } from './database-url.ts';
import { EXPORT_VARIABLES } from './exports.ts';
import { proxyUrlSchema } from './http-proxy.ts';
import { listSettings, OPTIONAL_LISTS } from './optional-lists.ts';
import { PERSONAL_DATA_MODES } from './personal-data.ts';
import { apiUrlSchema } from './program-access.ts';
import { RATE_LIMIT_FORM, readRateLimit } from './rate-limit.ts';
import { reading } from './reading.ts';
import { readRedisAddress } from './redis-address.ts';
import { RETENTION_VARIABLES } from './retention.ts';
import { S3_VARIABLES } from './s3-access.ts';
import { STATUS_VARIABLES } from './status-page.ts';
import { isTimeZone } from './time-zone.ts';
import { TRACING_VARIABLES } from './tracing.ts';
import { cron, integer, optional, variable } from './variable.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const timezone = z.string().refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin');

const rateLimit = reading((text, refuse) => {
  const limit = readRateLimit(text);
  return limit === undefined ? refuse(`must be ${RATE_LIMIT_FORM}`) : limit;
});

const redisUrl = reading((text, refuse) => {
  const address = readRedisAddress(text);
  return 'problem' in address ? refuse(address.problem) : text;
});

/** In the order of the documentation. */
const schema = {
  AFFILIATE_API_URL: optional('base address of the program, without `/v1`', apiUrlSchema),
  AFFILIATE_API_SECRET: optional('the API secret', z.string()),
  AFFILIATE_API_SECRET_FILE: optional('a file that holds the API secret', z.string()),
  DATABASE_URL: optional(
    'analytics Postgres, 15 or newer',
    databaseUrlSchema,
    'embedded Postgres under `DATA_DIR`',
  ),
  MIRROR_SCHEMA: variable(
    'schema of the mirrored tables',
    z
      .string()
      .regex(
        /^[a-z_][a-z0-9_]{0,62}$/,
        'must be a plain schema name: lower-case letters, digits and _, not starting with a digit, at most 63',
      )
      .refine((name) => !/^(pg_|information_schema$)/.test(name), 'must not be a schema of Postgres itself'),
    'mirror',
  ),
  PII: variable(
    'how personal data are stored: `plain`, `hash` (keyed hashes, which still join) or `omit` (not at all)',
    z.enum(PERSONAL_DATA_MODES, `must be one of ${PERSONAL_DATA_MODES.join(', ')}`),
    'plain',
  ),
  PII_KEY_FILE: optional('a file of at least 32 bytes, the key of the hashes; needed for `hash`', z.string()),
  API_RATE_LIMIT: variable("the account's budget, requests/seconds; `none` for no limit", rateLimit, '45/30'),
  API_TIMEOUT_MS: variable('longest wait for one answer, in milliseconds', integer(1, 600_000), '30000'),
  HTTPS_PROXY: optional('proxy for requests to the program; also in small letters', proxyUrlSchema),
  HTTP_PROXY: optional('the same, where `HTTPS_PROXY` is not set', proxyUrlSchema),
  NO_PROXY: optional('hosts and domains that are reached without it, with commas between them', z.string()),
  AFFILIATE_AMOUNT_UNIT: variable(
    'what the program counts amounts in: `minor` units of the currency (USD 2 digits, JPY 0, KWD 3), `cent` (2, whatever the currency) or `major` units',
    z.enum(AMOUNT_UNITS, `must be one of ${AMOUNT_UNITS.join(', ')}`),
    'minor',
  ),
  REDIS_URL: optional(
    'Redis to keep the queue in, for workers on many machines',
    redisUrl,
    'the queue is kept in Postgres',
  ),
  SYNC_FULL_CRON: variable(
    'when a worker reads everything, in cron syntax (seconds may come first); empty for never',
    cron,
    '0 2 * * *',
  ),
  SYNC_DELTA_CRON: variable(
    'when a worker looks for changes, in cron syntax; empty for never',
    cron,
    '*/15 * * * *',
  ),
  SYNC_TIMEZONE: variable('the time zone of every schedule, such as `Europe/Berlin`', timezone, 'UTC'),
  OPTIONAL_LISTS: variable(
    `lists that the program has beyond its contract: \`auto\` asks it once a day for each, \`none\`, or their names with commas between them (${OPTIONAL_LISTS.join(', ')})`,
    listSettings,
    'auto',
  ),
  ...EXPORT_VARIABLES,
  ...S3_VARIABLES,
  ...ALERT_VARIABLES,
  ...RETENTION_VARIABLES,
  STALE_AFTER_HOURS: variable(
    'after how many hours without a verified sync a resource is stale',
    integer(1, 8760),
    '26',
  ),
  ...STATUS_VARIABLES,
  LOG_LEVEL: variable(
    LOG_LEVELS.map((level) => `\`${level}\``).join(', '),
    z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`),
    'info',
  ),
  ...TRACING_VARIABLES,
  DATA_DIR: variable('where the embedded Postgres keeps its data', z.string(), '.affiliate-mirror'),
};

export const environmentSchema = z.object(schema);

/** Other programs read them in small letters too, and prefer these. */
export const MAY_BE_SMALL: readonly string[] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];

/** Empty means something here. Every other variable that is empty counts as unset. */
export const MAY_BE_EMPTY: readonly string[] = [
  'SYNC_FULL_CRON',
  'SYNC_DELTA_CRON',
  'EXPORT_CRON',
  'RETENTION_HISTORY_DAYS',
  'RETENTION_RUNS_DAYS',
  'RETENTION_REJECTED_DAYS',
  'RETENTION_ATTEMPTS_DAYS',
  'RETENTION_DRIFT_DAYS',
];

export interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** As the documentation shows it. */
  readonly default: string;
}

/** Every variable, as docs/configuration.md lists it (a test compares the two). */
export const VARIABLES: readonly Variable[] = Object.entries(schema).map(([name, read]) => {
  const { description = '', shownDefault } = z.globalRegistry.get(read) ?? {};
  return { name, meaning: description, default: String(shownDefault) };
});
