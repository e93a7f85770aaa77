// The only reader of the environment. Knows every variable, its default and its rules; starts nothing.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { findCronProblem } from './cron-syntax.ts';
import { ConfigError } from './errors.ts';

/** At most `requests` in any window of `windowSeconds`; null means that no limit is kept. */
export type RateLimit = { readonly requests: number; readonly windowSeconds: number } | null;

export interface Config {
  /** Null where unset: only `demo` and `sandbox` can do without a program to talk to. */
  readonly api: {
    readonly url: string | null;
    readonly secret: string | null;
    readonly timeoutMs: number;
    readonly concurrency: number;
    readonly rateLimit: RateLimit;
  };
  /** Null means the embedded Postgres under `dataDir`. */
  readonly databaseUrl: string | null;
  readonly mirrorSchema: string;
  /** Null: the queue is kept in the same Postgres. */
  readonly redisUrl: string | null;
  /** Null: no such schedule. */
  readonly schedules: {
    readonly full: string | null;
    readonly delta: string | null;
    readonly timezone: string;
  };
  /** Where a worker serves its health, which tells nothing that needs a password. */
  readonly status: { readonly host: string; readonly port: number };
  readonly dataDir: string;
  readonly logLevel: string;
}

export interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** As printed in docs/configuration.md. */
  readonly default: string;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Every variable that the program reads, in the order of docs/configuration.md (a test holds the two equal). */
export const VARIABLES: readonly Variable[] = [
  { name: 'AFFILIATE_API_URL', meaning: 'base address of the program, without `/v1`', default: 'none' },
  { name: 'AFFILIATE_API_SECRET', meaning: 'the API secret', default: 'none' },
  { name: 'AFFILIATE_API_SECRET_FILE', meaning: 'a file that holds the API secret', default: 'none' },
  {
    name: 'DATABASE_URL',
    meaning: 'analytics Postgres, 15 or newer',
    default: 'embedded Postgres under `DATA_DIR`',
  },
  { name: 'MIRROR_SCHEMA', meaning: 'schema of the mirrored tables', default: '`mirror`' },
  {
    name: 'API_RATE_LIMIT',
    meaning: "the account's budget, requests/seconds; `none` for no limit",
    default: '`45/30`',
  },
  { name: 'API_TIMEOUT_MS', meaning: 'longest wait for one answer, in milliseconds', default: '`30000`' },
  { name: 'API_CONCURRENCY', meaning: 'pages in flight at once, 1 to 16', default: '`1`' },
  {
    name: 'REDIS_URL',
    meaning: 'Redis to keep the queue in, for workers on many machines',
    default: 'the queue is kept in Postgres',
  },
  {
    name: 'SYNC_FULL_CRON',
    meaning: 'when a worker reads everything, in cron syntax (seconds may come first); empty for never',
    default: '`0 2 * * *`',
  },
  {
    name: 'SYNC_DELTA_CRON',
    meaning: 'when a worker looks for changes, in cron syntax; empty for never',
    default: '`*/15 * * * *`',
  },
  { name: 'SYNC_TIMEZONE', meaning: 'the time zone of both, such as `Europe/Berlin`', default: '`UTC`' },
  { name: 'STATUS_HOST', meaning: 'address that a worker serves its health on', default: '`127.0.0.1`' },
  { name: 'STATUS_PORT', meaning: 'port of the same; 0 for any free one', default: '`8080`' },
  { name: 'LOG_LEVEL', meaning: LOG_LEVELS.map((level) => `\`${level}\``).join(', '), default: '`info`' },
  {
    name: 'DATA_DIR',
    meaning: 'where the embedded Postgres keeps its data',
    default: '`.affiliate-mirror`',
  },
];

const integer = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`);

const environmentSchema = z.object({
  AFFILIATE_API_URL: z.string().transform(parseApiUrl).optional(),
  AFFILIATE_API_SECRET: z.string().optional(),
  AFFILIATE_API_SECRET_FILE: z.string().optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/, 'must look like postgres://user:password@host:5432/database')
    .optional(),
  MIRROR_SCHEMA: z
    .string()
    .regex(
      /^[a-z_][a-z0-9_]{0,62}$/,
      'must be a plain schema name: lower-case letters, digits and _, not starting with a digit, at most 63',
    )
    .refine((name) => !/^(pg_|information_schema$)/.test(name), 'must not be a schema of Postgres itself')
    .default('mirror'),
  API_RATE_LIMIT: z.string().transform(parseRateLimit).default({ requests: 45, windowSeconds: 30 }),
  API_TIMEOUT_MS: integer(1, 600_000).default(30_000),
  API_CONCURRENCY: integer(1, 16).default(1),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/\S+$/, 'must look like redis://:password@host:6379/0')
    .refine((text) => URL.canParse(text), 'must look like redis://:password@host:6379/0')
    .optional(),
  SYNC_FULL_CRON: z.string().transform(parseCron).default('0 2 * * *'),
  SYNC_DELTA_CRON: z.string().transform(parseCron).default('*/15 * * * *'),
  SYNC_TIMEZONE: z
    .string()
    .refine(isTimezone, 'must be the name of a time zone, such as Europe/Berlin')
    .default('UTC'),
  STATUS_HOST: z.string().regex(/^\S+$/, 'must be an address or the name of a host').default('127.0.0.1'),
  STATUS_PORT: integer(0, 65_535).default(8080),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  DATA_DIR: z.string().default('.affiliate-mirror'),
});

/** Empty means something here: no such schedule. Every other variable that is empty counts as unset. */
const MAY_BE_EMPTY = ['SYNC_FULL_CRON', 'SYNC_DELTA_CRON'];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Gives back the checked configuration.
 *
 * Throws: ConfigError naming every malformed variable at once.
 */
export function readConfig(environment: Environment): Config {
  return check(environment, { isProgramNeeded: false });
}

/** A program that can be asked. */
export interface ProgramAddress {
  readonly url: string;
  readonly secret: string;
}

/**
 * Gives back the checked configuration with the program's address and secret, for the commands that need them.
 *
 * Throws: ConfigError naming every missing or malformed variable at once.
 */
export function readProgramConfig(environment: Environment): { config: Config; program: ProgramAddress } {
  const config = check(environment, { isProgramNeeded: true });
  const { url, secret } = config.api;
  if (url === null || secret === null) throw new TypeError('the check let a missing variable pass');
  return { config, program: { url, secret } };
}

function check(environment: Environment, { isProgramNeeded }: { isProgramNeeded: boolean }): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => value !== undefined && (value.trim() !== '' || MAY_BE_EMPTY.includes(name)),
    ),
  );
  const problems = isProgramNeeded ? missingProgram(given) : [];
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`));
  }
  const secret = readSecret(given, problems);
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const env = parsed.data;
  return {
    api: {
      url: env.AFFILIATE_API_URL ?? null,
      secret,
      timeoutMs: env.API_TIMEOUT_MS,
      concurrency: env.API_CONCURRENCY,
      rateLimit: env.API_RATE_LIMIT,
    },
    databaseUrl: env.DATABASE_URL ?? null,
    mirrorSchema: env.MIRROR_SCHEMA,
    redisUrl: env.REDIS_URL ?? null,
    schedules: { full: env.SYNC_FULL_CRON, delta: env.SYNC_DELTA_CRON, timezone: env.SYNC_TIMEZONE },
    status: { host: env.STATUS_HOST, port: env.STATUS_PORT },
    dataDir: env.DATA_DIR,
    logLevel: env.LOG_LEVEL,
  };
}

/** Gives back what is missing of the program's address and secret, each with how to mend it. */
function missingProgram(given: Environment): string[] {
  const { AFFILIATE_API_URL, AFFILIATE_API_SECRET, AFFILIATE_API_SECRET_FILE } = given;
  const problems: string[] = [];
  if (!AFFILIATE_API_URL) {
    problems.push('AFFILIATE_API_URL is not set: give the base address of the program, without /v1');
  }
  if (!AFFILIATE_API_SECRET && !AFFILIATE_API_SECRET_FILE) {
    problems.push('AFFILIATE_API_SECRET is not set (nor AFFILIATE_API_SECRET_FILE): give the API secret');
  }
  return problems;
}

function readSecret(given: Record<string, string | undefined>, problems: string[]): string | null {
  const { AFFILIATE_API_SECRET: direct, AFFILIATE_API_SECRET_FILE: file } = given;
  if (direct !== undefined && file !== undefined) {
    problems.push('AFFILIATE_API_SECRET and AFFILIATE_API_SECRET_FILE are both set: keep one of them');
    return null;
  }
  if (file === undefined)
    return direct === undefined ? null : checkSecret(direct, 'AFFILIATE_API_SECRET', problems);
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    problems.push(`AFFILIATE_API_SECRET_FILE names ${file}, which cannot be read (${code})`);
    return null;
  }
  return checkSecret(content, 'AFFILIATE_API_SECRET_FILE', problems);
}

// A trailing newline is what every editor and `echo` leaves; anything else inside would corrupt the header.
function checkSecret(raw: string, variable: string, problems: string[]): string | null {
  const secret = raw.trim();
  if (secret === '') {
    problems.push(`${variable} holds no secret: it is empty`);
    return null;
  }
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(secret)) {
    problems.push(`${variable} holds a character that no API secret has (a space, a colon or a line break)`);
    return null;
  }
  return secret;
}

function parseApiUrl(text: string, context: z.RefinementCtx): string {
  const fail = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (!URL.canParse(text)) return fail('must be an address such as https://api.example.com');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return fail('must start with https://');
  if (url.username !== '' || url.password !== '') {
    return fail('must not hold credentials: put the secret into AFFILIATE_API_SECRET');
  }
  if (url.search !== '' || url.hash !== '') return fail('must not hold a query or a fragment');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return fail('must start with https://: over http:// the secret would travel in the clear');
  }
  const base = url.href.replace(/\/+$/, '');
  return base.endsWith('/v1') ? fail('must not end in /v1: give the address before it') : base;
}

/** Gives back whether the host is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '[::1]', '::1'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function parseCron(text: string, context: z.RefinementCtx): string | null {
  if (text.trim() === '') return null;
  const problem = findCronProblem(text);
  if (problem === null) return text.trim().split(/\s+/).join(' ');
  context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function parseRateLimit(text: string, context: z.RefinementCtx): RateLimit {
  const limit = readRateLimit(text);
  if (limit !== undefined) return limit;
  context.addIssue({ code: 'custom', message: 'must be requests/seconds, such as 45/30, or none' });
  return z.NEVER;
}

/** Gives back the limit that `45/30` or `none` stands for; undefined where the text is neither. */
export function readRateLimit(text: string): RateLimit | undefined {
  if (text === 'none') return null;
  const match = /^([1-9]\d{0,6})\/(\d{1,6}(?:\.\d{1,3})?)$/.exec(text);
  if (match === null) return undefined;
  const windowSeconds = Number(match[2]);
  return windowSeconds > 0 ? { requests: Number(match[1]), windowSeconds } : undefined;
}
