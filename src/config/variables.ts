// Every environment variable, with its rules, meaning and default; those of a larger part are in its file.

import { z } from 'zod';
import { AMOUNT_UNITS } from '../contract/money.ts';
import { OPTIONAL_LISTS } from '../contract/optional-lists.ts';
import { isTimeZone } from '../contract/time-zone.ts';
import { ALERT_VARIABLES } from './process/alerts.ts';
import { databaseUrlSchema } from './process/database-url.ts';
import { EXPORT_VARIABLES } from './process/exports.ts';
import { proxyUrlSchema } from './process/http-proxy.ts';
import { readRedisAddress } from './process/redis-address.ts';
import { RETENTION_VARIABLES } from './process/retention.ts';
import { S3_VARIABLES } from './process/s3-access.ts';
import { STATUS_VARIABLES } from './process/status-page.ts';
import { TRACING_VARIABLES } from './process/tracing.ts';
import { listSettings } from './program/optional-lists.ts';
import { PERSONAL_DATA_MODES } from './program/personal-data.ts';
import { apiUrlSchema } from './program/program-access.ts';
import { RATE_LIMIT_FORM, readRateLimit } from './program/rate-limit.ts';
import { reading } from './reading.ts';
import { cron, findProgramKey, integer, ofProgram, optional, variable } from './variable.ts';

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
  PROGRAMS_FILE: optional(
    'a YAML file of [several programs](#several-programs), which one process serves',
    z.string(),
    'these variables describe one program',
  ),
  AFFILIATE_API_URL: ofProgram('url', optional('base address of the API, without `/v1`', apiUrlSchema)),
  AFFILIATE_API_SECRET: ofProgram('secret_env', optional('the API secret', z.string()), {
    // In capitals: a secret that is given in its place is most likely refused, and no message quotes it.
    form: z
      .string('must be text')
      .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of a variable in capitals, such as ACME_API_SECRET'),
    meaning: 'the variable that holds the API secret',
  }),
  AFFILIATE_API_SECRET_FILE: ofProgram(
    'secret_file',
    optional('a file that holds the API secret', z.string()),
  ),
  DATABASE_URL: optional(
    'analytics Postgres, 15 or newer',
    databaseUrlSchema,
    'embedded Postgres under `DATA_DIR`',
  ),
  MIRROR_SCHEMA: ofProgram(
    'schema',
    variable(
      'schema of the mirrored tables',
      z
        .string()
        .regex(
          /^[a-z_][a-z0-9_]{0,62}$/,
          'must be a plain schema name: lower-case letters, digits and _, not starting with a digit, at most 63',
        )
        .refine(
          (name) => !/^(pg_|information_schema$)/.test(name),
          'must not be a schema of Postgres itself',
        ),
      'mirror',
    ),
  ),
  PII: ofProgram(
    'pii',
    variable(
      'how [personal data](personal-data.md) are stored: `plain`, `hash` or `omit`',
      z.enum(PERSONAL_DATA_MODES, `must be one of ${PERSONAL_DATA_MODES.join(', ')}`),
      'plain',
    ),
  ),
  PII_KEY_FILE: ofProgram(
    'pii_key_file',
    optional('a file of at least 32 bytes, the key of the hashes; needed for `hash`', z.string()),
  ),
  API_RATE_LIMIT: ofProgram(
    'rate_limit',
    variable("the account's budget, requests/seconds; `none` for no limit", rateLimit, '45/30'),
  ),
  API_TIMEOUT_MS: ofProgram(
    'timeout_ms',
    variable('longest wait for one answer, in milliseconds', integer(1, 600_000), '30000'),
    { form: z.int('must be a whole number, without quotation marks') },
  ),
  HTTPS_PROXY: optional('proxy for requests to the API; also in small letters', proxyUrlSchema),
  HTTP_PROXY: optional('the same, if `HTTPS_PROXY` is not set', proxyUrlSchema),
  NO_PROXY: optional('hosts and domains reached without it, with commas between them', z.string()),
  AFFILIATE_AMOUNT_UNIT: ofProgram(
    'amount_unit',
    variable(
      'the unit of amounts in the API: `minor` units of the currency (USD 2 digits, JPY 0), `cent` (2 in every currency) or `major`',
      z.enum(AMOUNT_UNITS, `must be one of ${AMOUNT_UNITS.join(', ')}`),
      'minor',
    ),
  ),
  REDIS_URL: optional(
    'Redis to keep the queue in, for workers on many machines',
    redisUrl,
    'the queue is kept in Postgres',
  ),
  SYNC_FULL_CRON: ofProgram(
    'full_cron',
    variable(
      'when a worker reads everything, in cron syntax (seconds may come first); empty for never',
      cron,
      '0 2 * * *',
    ),
  ),
  SYNC_DELTA_CRON: ofProgram(
    'delta_cron',
    variable('when a worker looks for changes, in cron syntax; empty for never', cron, '*/15 * * * *'),
  ),
  SYNC_TIMEZONE: ofProgram(
    'timezone',
    variable('the time zone of every schedule, such as `Europe/Berlin`', timezone, 'UTC'),
  ),
  DISPLAY_TIMEZONE: optional(
    'the time zone of times, days and months that people read; JSON, the database and logs keep UTC',
    timezone,
    'that of `SYNC_TIMEZONE`',
  ),
  OPTIONAL_LISTS: ofProgram(
    'optional_lists',
    variable(
      `lists that the API has beyond its contract: \`auto\` asks it once a day for each, \`none\`, or their names with commas between them (${OPTIONAL_LISTS.join(', ')})`,
      listSettings,
      'auto',
    ),
  ),
  WORK_CONCURRENCY: variable('most jobs that a worker runs at once', integer(1, 10_000), '200'),
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

/** Also read in small letters, which win, as in other software. */
export const MAY_BE_SMALL: readonly string[] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];

/** Empty is a value of these. Every other empty variable counts as unset. */
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

export interface ProgramKey {
  readonly key: string;
  readonly variable: string;
  readonly meaning: string;
  /** The schema of the value in the file; its messages follow the key. */
  readonly form: z.ZodType<string | number>;
}

/** Every key of a program in PROGRAMS_FILE, in the order of the variables that they take the place of. */
export const PROGRAM_KEYS: readonly ProgramKey[] = Object.entries(schema).flatMap(([variable, read]) => {
  const found = findProgramKey(read);
  if (found === undefined) return [];
  const { key, form, meaning = z.globalRegistry.get(read)?.description ?? '' } = found;
  return [{ key, variable, meaning, form }];
});
