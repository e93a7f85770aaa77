// Every environment variable of affiliate-mirror, with its rules, meaning and default.

import { z } from 'zod';
import { AMOUNT_UNITS } from './amount-unit.ts';
import { findCronProblem } from './cron-syntax.ts';
import { databaseUrlSchema } from './database-url.ts';
import { EXPORT_FORMATS } from './exports.ts';
import { proxyUrlSchema } from './http-proxy.ts';
import { PERSONAL_DATA_MODES } from './personal-data.ts';
import { apiUrlSchema } from './program-access.ts';
import { readRateLimit } from './rate-limit.ts';
import { readRedisAddress } from './redis-address.ts';
import { basePathSchema } from './status-page.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const integer = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`);

/** Empty means no such schedule. */
const cron = z.string().transform((text, context): string | null => {
  if (text.trim() === '') return null;
  const problem = findCronProblem(text);
  if (problem === null) return text.trim().split(/\s+/).join(' ');
  context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
});

const timezone = z.string().refine((name) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}, 'must be the name of a time zone, such as Europe/Berlin');

const rateLimit = z.string().transform((text, context) => {
  const limit = readRateLimit(text);
  if (limit !== undefined) return limit;
  context.addIssue({ code: 'custom', message: 'must be requests/seconds, such as 45/30, or none' });
  return z.NEVER;
});

const names = z.string().transform((text) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== ''),
);

const serviceUrl = z
  .string()
  .regex(
    /^https?:\/\/[^/?#@\s]+\/*$/,
    'must be an address such as https://storage.example.com, without a path',
  )
  .transform((text) => text.replace(/\/+$/, ''));

const redisUrl = z.string().superRefine((text, context) => {
  const address = readRedisAddress(text);
  if ('problem' in address) context.addIssue({ code: 'custom', message: address.problem });
});

/** In the order of the documentation. A default is written as a user would write it, and read by the same schema. */
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
  API_CONCURRENCY: variable('pages in flight at once, 1 to 16', integer(1, 16), '1'),
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
  COMMISSION_LIST: variable(
    'whether commissions are mirrored by their list: `auto` asks the program once a day whether it has one, `on`, `off`',
    z.enum(['auto', 'on', 'off'], 'must be auto, on or off'),
    'auto',
  ),
  EXPORT_CRON: variable(
    'when a worker exports what the next variables name, in cron syntax; empty for never',
    cron,
    '',
  ),
  EXPORT_TARGET: optional('where to: a directory, or `s3://bucket/prefix`', z.string()),
  EXPORT_FORMAT: variable(
    EXPORT_FORMATS.map((format) => `\`${format}\``).join(', '),
    z.enum(EXPORT_FORMATS, `must be one of ${EXPORT_FORMATS.join(', ')}`),
    'parquet',
  ),
  EXPORT_WHOLE: optional('tables and views to export whole each time, with commas between them', names),
  EXPORT_CHANGES: optional('tables to export the changes of since the last time', names),
  AWS_ACCESS_KEY_ID: optional('access key of the storage that exports go to', z.string()),
  AWS_SECRET_ACCESS_KEY: optional('its secret part', z.string()),
  AWS_REGION: variable('region of the bucket', z.string().regex(/^[\w-]+$/, 'must be a region'), 'us-east-1'),
  AWS_ENDPOINT_URL: optional(
    'address of an S3-compatible service, without the bucket',
    serviceUrl,
    "Amazon's",
  ),
  STATUS_HOST: variable(
    'address that a worker serves its status page on; any but this machine alone (`127.0.0.1`) needs a password',
    z.string().regex(/^\S+$/, 'must be an address or the name of a host'),
    '127.0.0.1',
  ),
  STATUS_PORT: variable('port of the same; 0 for any free one', integer(0, 65_535), '8080'),
  STATUS_PASSWORD: optional('the password of the status page, 8 characters or more', z.string()),
  STATUS_PASSWORD_FILE: optional('a file that holds it', z.string()),
  STATUS_PII_PASSWORD: optional(
    'another password, with which the page shows personal data',
    z.string(),
    'nobody sees any',
  ),
  STATUS_PII_PASSWORD_FILE: optional('a file that holds it', z.string()),
  STATUS_BASE_PATH: variable(
    'path that a reverse proxy serves the page below, such as `/affiliates`; it passes the path on unchanged',
    basePathSchema,
    '',
  ),
  METRICS: variable(
    'who may read `/metrics`: `guarded` (whoever has the password of the page) or `open` (everybody)',
    z.enum(['guarded', 'open'], 'must be guarded or open'),
    'guarded',
  ),
  LOG_LEVEL: variable(
    LOG_LEVELS.map((level) => `\`${level}\``).join(', '),
    z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`),
    'info',
  ),
  DATA_DIR: variable('where the embedded Postgres keeps its data', z.string(), '.affiliate-mirror'),
};

export const environmentSchema = z.object(schema);

/** Other programs read them in small letters too, and prefer these. */
export const MAY_BE_SMALL: readonly string[] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];

/** Empty means something here. Every other variable that is empty counts as unset. */
export const MAY_BE_EMPTY: readonly string[] = ['SYNC_FULL_CRON', 'SYNC_DELTA_CRON', 'EXPORT_CRON'];

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

function variable<S extends z.ZodType<unknown, string>>(meaning: string, read: S, initial: z.input<S>) {
  return read
    .prefault(initial as never)
    .meta({ description: meaning, shownDefault: initial === '' ? 'none' : `\`${initial}\`` });
}

function optional<S extends z.ZodType<unknown, string>>(meaning: string, read: S, without = 'none') {
  return read.optional().meta({ description: meaning, shownDefault: without });
}
