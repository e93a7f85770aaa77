// The only reader of the environment: checks all variables and reports every problem at once.

import type { z } from 'zod';
import { ConfigError } from '../errors.ts';
import { readAlertSettings } from './alerts.ts';
import { withSslMode } from './database-url.ts';
import { readScheduledExports } from './exports.ts';
import type { HttpProxy } from './http-proxy.ts';
import { readPersonalDataKey } from './personal-data.ts';
import { readSecret } from './program-access.ts';
import { readRetention } from './retention.ts';
import { readS3Access } from './s3-access.ts';
import { readStatusPasswords, refuseOpenPage } from './status-page.ts';
import { readTracing, withoutDisabledTracing } from './tracing.ts';
import { environmentSchema, MAY_BE_EMPTY, MAY_BE_SMALL } from './variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What each part means: see the variable that it comes from. Null where that is unset, or empty. */
export type Config = ReturnType<typeof check>;

/** What a command does that asks for more than well-formed variables. */
interface Use {
  /** Whether it serves the status page: others may reach that only with a password. */
  readonly servesPage: boolean;
}

/**
 * Returns the checked configuration.
 *
 * Throws: ConfigError naming every malformed variable at once.
 */
export function readConfig(environment: Environment, { servesPage }: Use = { servesPage: false }): Config {
  return check(environment, { isProgramNeeded: false, servesPage });
}

/** Where the program is, and the secret for it. */
export interface ProgramAddress {
  readonly url: string;
  readonly secret: string;
  /** Returns the secret that its file holds by now; see ApiClientOptions. Left out: the secret never changes. */
  readonly rereadSecret?: () => string | null;
  readonly proxy: HttpProxy | null;
}

/**
 * Returns the checked configuration with the program's address and secret, for the commands that need them.
 *
 * Throws: ConfigError naming every missing or malformed variable at once.
 */
export function readProgramConfig(
  environment: Environment,
  { servesPage }: Use = { servesPage: false },
): { config: Config; program: ProgramAddress } {
  const config = check(environment, { isProgramNeeded: true, servesPage });
  const { url, secret, proxy } = config.api;
  if (url === null || secret === null) throw new TypeError('the check accepted a missing variable');
  const rereadSecret = () => readSecret(readGiven(environment), []);
  return { config, program: { url, secret, rereadSecret, proxy } };
}

function check(
  environment: Environment,
  { isProgramNeeded, servesPage }: { isProgramNeeded: boolean; servesPage: boolean },
) {
  const problems: string[] = [];
  const given = withoutQuotes(readGiven(environment), problems);
  if (isProgramNeeded) problems.push(...missingProgram(given));
  const env = readVariables(given, problems);
  const secret = readSecret(given, problems);
  const key = readPersonalDataKey(given, problems);
  const passwords = readStatusPasswords(given, problems);
  if (servesPage) refuseOpenPage(env.STATUS_HOST, given, problems);
  const s3 = readS3Access(env, problems);
  const scheduledExports = readScheduledExports(env, s3, problems);
  const tracing = readTracing(env, problems);
  const proxy = readProxy(env.HTTPS_PROXY ?? env.HTTP_PROXY, env.NO_PROXY);
  const alerts = readAlertSettings(given, env, proxy, problems);
  const databaseUrl =
    env.DATABASE_URL === undefined ? null : withSslMode(env.DATABASE_URL, given['PGSSLMODE'], problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    api: {
      url: env.AFFILIATE_API_URL ?? null,
      secret,
      proxy,
      timeoutMs: env.API_TIMEOUT_MS,
      rateLimit: env.API_RATE_LIMIT,
    },
    amountUnit: env.AFFILIATE_AMOUNT_UNIT,
    databaseUrl,
    mirrorSchema: env.MIRROR_SCHEMA,
    personalData: { mode: env.PII, key },
    redisUrl: env.REDIS_URL ?? null,
    schedules: { full: env.SYNC_FULL_CRON, delta: env.SYNC_DELTA_CRON, timezone: env.SYNC_TIMEZONE },
    optionalLists: env.OPTIONAL_LISTS,
    scheduledExports,
    s3,
    alerts,
    retention: readRetention(env),
    databaseSizeLimit: env.DATABASE_SIZE_LIMIT ?? null,
    staleAfterSeconds: env.STALE_AFTER_HOURS * 3600,
    tracing,
    status: {
      host: env.STATUS_HOST,
      port: env.STATUS_PORT,
      basePath: env.STATUS_BASE_PATH,
      ...passwords,
      metrics: env.METRICS,
    },
    dataDir: env.DATA_DIR,
    logLevel: env.LOG_LEVEL,
  };
}

/** Returns the variables that count. */
function readGiven(environment: Environment): Environment {
  const set = Object.entries(withSmallLetters(environment)).filter(
    ([name, value]) => value !== undefined && (value.trim() !== '' || MAY_BE_EMPTY.includes(name)),
  );
  return withoutDisabledTracing(Object.fromEntries(set));
}

/**
 * Returns every variable as its schema reads it; what is wrong is added to `problems`. A malformed one is as if it were
 * not set, so that what several variables need of each other can be checked all the same.
 */
function readVariables(given: Environment, problems: string[]): z.output<typeof environmentSchema> {
  const parsed = environmentSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  problems.push(...issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  const malformed = new Set(issues.map(({ path }) => path[0]));
  return environmentSchema.parse(
    Object.fromEntries(Object.entries(given).filter(([name]) => !malformed.has(name))),
  );
}

const IN_QUOTES = /^\s*(["'])(.*)\1\s*$/s;
/** What pg reads beside DATABASE_URL. */
const OF_LIBPQ = /^PG(HOST|PORT|USER|PASSWORD|DATABASE|OPTIONS|SSLMODE)$/;

/**
 * Returns the variables without the quotes around their values, so that the rest of each is checked as well. The quotes
 * are added to `problems`: a shell takes them away, `docker run --env-file` passes them on.
 */
function withoutQuotes(given: Environment, problems: string[]): Environment {
  const read = Object.entries(given).map(([name, value = '']) => {
    const [, , inside] = IN_QUOTES.exec(value) ?? [];
    const isRead = name in environmentSchema.shape || OF_LIBPQ.test(name);
    if (inside === undefined || !isRead) return [name, value];
    problems.push(
      `${name} begins and ends with a quotation mark, which counts as part of the value (docker run --env-file keeps it): leave both out`,
    );
    return [name, inside];
  });
  return Object.fromEntries(read);
}

function readProxy(url: string | undefined, exceptions = ''): HttpProxy | null {
  return url === undefined ? null : { url, exceptions };
}

function withSmallLetters(environment: Environment): Environment {
  const small = MAY_BE_SMALL.map((name) => [name, environment[name.toLowerCase()]] as const);
  return { ...environment, ...Object.fromEntries(small.filter(([, value]) => value !== undefined)) };
}

/** Returns what is missing of the program's address and secret, each with how to fix it. */
function missingProgram(given: Environment): string[] {
  const { AFFILIATE_API_URL, AFFILIATE_API_SECRET, AFFILIATE_API_SECRET_FILE } = given;
  const problems: string[] = [];
  if (!AFFILIATE_API_URL) {
    problems.push('AFFILIATE_API_URL is not set: give the base address of the program, without /v1');
  }
  if (!AFFILIATE_API_SECRET && !AFFILIATE_API_SECRET_FILE) {
    // Source: contract, Authentication 6.
    problems.push(
      "AFFILIATE_API_SECRET is not set (nor AFFILIATE_API_SECRET_FILE): give the API secret, which is found in the account's company settings",
    );
  }
  return problems;
}
