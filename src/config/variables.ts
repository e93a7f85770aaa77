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
import { keptDaysSchema, sizeSchema } from './retention.ts';
import { basePathSchema } from './status-page.ts';
import { DEFAULT_NAME, endpointSchema, pairsSchema } from './tracing.ts';

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
  ALERT_WEBHOOK_URL: optional(
    'where [alerts](alerts.md) go: an address that takes what Slack takes; a secret',
    z.string(),
  ),
  ALERT_WEBHOOK_URL_FILE: optional('a file that holds that address', z.string()),
  ALERT_EMAIL: optional('addresses that alerts are mailed to, with commas between them', names),
  ALERT_EMAIL_FROM: optional(
    'who they are from',
    z.string(),
    'the user of `SMTP_URL` where that is an address, else the first of `ALERT_EMAIL`',
  ),
  SMTP_URL: optional(
    'the mail server, such as `smtps://user:password@mail.example.com`, or `smtp://` for STARTTLS; a secret',
    z.string(),
  ),
  SMTP_URL_FILE: optional('a file that holds that address', z.string()),
  RETENTION_HISTORY_DAYS: variable(
    'days that the history (`record_history`) is kept; empty for ever. Pruned, the mirror as of an earlier time is not known any more',
    keptDaysSchema,
    '',
  ),
  RETENTION_RUNS_DAYS: variable(
    'days that the run log (`sync_runs`) is kept, but for runs that something still names; empty for ever',
    keptDaysSchema,
    '400',
  ),
  RETENTION_REJECTED_DAYS: variable(
    'days that `rejected_records` are kept; empty for ever',
    keptDaysSchema,
    '400',
  ),
  RETENTION_ATTEMPTS_DAYS: variable(
    'days that the reads of `commission_update_attempts` are kept once their request has ended (what was written is kept for ever); empty for ever',
    keptDaysSchema,
    '',
  ),
  RETENTION_DRIFT_DAYS: variable('days that `schema_drift` is kept; empty for ever', keptDaysSchema, '400'),
  DATABASE_SIZE_LIMIT: optional(
    'how large the database may become, such as `50 GB`: `status growth` says when it would be',
    sizeSchema,
    "the embedded Postgres: its disk's free space; else not known",
  ),
  STALE_AFTER_HOURS: variable(
    'a resource that no sync has verified for so many hours is stale',
    integer(1, 8760),
    '26',
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
  OTEL_SDK_DISABLED: optional(
    '`true` for no traces, whatever the others say',
    z
      .string()
      .toLowerCase()
      .pipe(z.enum(['true', 'false'], 'must be true or false')),
  ),
  OTEL_TRACES_EXPORTER: optional(
    'what to do with traces: `otlp` or `none`',
    z.enum(['otlp', 'none'], 'must be otlp or none'),
    '`otlp` where an endpoint is set',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    'address of the collector, without `/v1/traces`; set, it turns traces on',
    endpointSchema,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional('the whole address for traces, in its place', endpointSchema),
  OTEL_EXPORTER_OTLP_PROTOCOL: optional(
    '`http/json`; `http/protobuf` is accepted, and JSON is sent to the same address',
    z.enum(['http/json', 'http/protobuf'], 'must be http/json: gRPC is not spoken, use the port for HTTP'),
    '`http/json`',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(
    'headers for the collector, such as its token: `name=value`, with commas between them; a secret',
    z.string(),
  ),
  OTEL_EXPORTER_OTLP_HEADERS_FILE: optional('a file that holds them', z.string()),
  OTEL_SERVICE_NAME: optional('what the traces call this service', z.string(), `\`${DEFAULT_NAME}\``),
  OTEL_RESOURCE_ATTRIBUTES: optional(
    'more about it, such as `deployment.environment.name=production`',
    pairsSchema,
  ),
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

function variable<S extends z.ZodType<unknown, string>>(meaning: string, read: S, initial: z.input<S>) {
  return read
    .prefault(initial as never)
    .meta({ description: meaning, shownDefault: initial === '' ? 'none' : `\`${initial}\`` });
}

function optional<S extends z.ZodType<unknown, string>>(meaning: string, read: S, without = 'none') {
  return read.optional().meta({ description: meaning, shownDefault: without });
}
