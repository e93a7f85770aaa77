// The only reader of the environment: checks all variables and reports every problem at once.

import type { z } from 'zod';
import { ConfigError } from '../base/errors.ts';
import { MONEY } from '../contract/money.ts';
import { readAlertSettings } from './process/alerts.ts';
import { withSslMode } from './process/database-url.ts';
import { readScheduledExports } from './process/exports.ts';
import type { HttpProxy } from './process/http-proxy.ts';
import { readRetention } from './process/retention.ts';
import { readS3Access } from './process/s3-access.ts';
import { readStatusPasswords, refuseOpenPage } from './process/status-page.ts';
import { readTracing } from './process/tracing.ts';
import { readPersonalDataKey } from './program/personal-data.ts';
import { readSecret } from './program/program-access.ts';
import { environmentSchema, MAY_BE_EMPTY, MAY_BE_SMALL } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings of this process, and those of the affiliate program that it mirrors. Each is explained at its variable;
 * null if that is unset or empty.
 */
export interface Config {
  readonly process: ProcessConfig;
  readonly program: ProgramConfig;
}

export type ProcessConfig = ReturnType<typeof check>['process'];
export type ProgramConfig = ReturnType<typeof check>['program'];

/** Where the API is, and the secret for it. */
export interface ProgramAddress {
  readonly url: string;
  readonly secret: string;
  /** Returns the secret that its file holds by now; see ApiClientOptions. Left out: the secret never changes. */
  readonly rereadSecret?: () => string | null;
  readonly proxy: HttpProxy | null;
}

/** The configuration of a command that sends requests to the API. */
export interface ReachableConfig extends Config {
  readonly program: ProgramConfig & { readonly address: ProgramAddress };
}

interface Use {
  /** Whether the command serves the status page, which other machines may reach only with a password. */
  readonly servesPage: boolean;
  /** The program's name in PROGRAMS_FILE. Left out: the environment describes it. */
  readonly name?: string;
}

/**
 * Returns the checked configuration.
 *
 * Throws: ConfigError naming every malformed variable at once.
 */
export function readConfig(environment: Environment, use: Use = { servesPage: false }): Config {
  return check(environment, { ...use, isProgramNeeded: false });
}

/**
 * Returns the checked configuration, with the API's address and secret.
 *
 * Throws: ConfigError naming every missing or malformed variable at once.
 */
export function readProgramConfig(
  environment: Environment,
  use: Use = { servesPage: false },
): ReachableConfig {
  const { process, program } = check(environment, { ...use, isProgramNeeded: true });
  const { address } = program;
  if (address === null) throw new TypeError('the check accepted a missing variable');
  return { process, program: { ...program, address } };
}

function check(
  environment: Environment,
  { isProgramNeeded, servesPage, name }: Use & { readonly isProgramNeeded: boolean },
) {
  const given = readGiven(environment);
  const problems = findQuotes(given);
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
  const url = env.AFFILIATE_API_URL;
  const rereadSecret = () => readSecret(readGiven(environment), []);
  const address: ProgramAddress | null =
    url === undefined || secret === null ? null : { url, secret, rereadSecret, proxy };
  return {
    process: {
      databaseUrl,
      dataDir: env.DATA_DIR,
      databaseSizeLimit: env.DATABASE_SIZE_LIMIT ?? null,
      redisUrl: env.REDIS_URL ?? null,
      programsFile: env.PROGRAMS_FILE ?? null,
      mostJobs: env.WORK_CONCURRENCY,
      proxy,
      scheduledExports,
      s3,
      alerts,
      retention: readRetention(env),
      staleAfterSeconds: env.STALE_AFTER_HOURS * 3600,
      tracing,
      displayZone: env.DISPLAY_TIMEZONE ?? env.SYNC_TIMEZONE,
      status: {
        host: env.STATUS_HOST,
        port: env.STATUS_PORT,
        basePath: env.STATUS_BASE_PATH,
        ...passwords,
        metrics: env.METRICS,
      },
      logLevel: env.LOG_LEVEL,
    },
    program: {
      /** In PROGRAMS_FILE; null if the environment describes the program. */
      name: name ?? null,
      address,
      timeoutMs: env.API_TIMEOUT_MS,
      rateLimit: env.API_RATE_LIMIT,
      money: MONEY[env.AFFILIATE_AMOUNT_UNIT],
      mirrorSchema: env.MIRROR_SCHEMA,
      personalData: { mode: env.PII, key },
      schedules: { full: env.SYNC_FULL_CRON, delta: env.SYNC_DELTA_CRON, timezone: env.SYNC_TIMEZONE },
      optionalLists: env.OPTIONAL_LISTS,
    },
  };
}

/** Returns the variables that are set. */
function readGiven(environment: Environment): Environment {
  const set = Object.entries(withSmallLetters(environment)).filter(
    ([name, value]) => value !== undefined && (value.trim() !== '' || MAY_BE_EMPTY.includes(name)),
  );
  return Object.fromEntries(set);
}

/**
 * Returns every variable as its schema reads it; problems are added to `problems`. A malformed variable counts as
 * unset, so that the rules between variables are checked as well.
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

const IN_QUOTES = /^\s*(["']).*\1\s*$/s;
/** Variables that pg itself reads. */
const OF_LIBPQ = /^PG(HOST|PORT|USER|PASSWORD|DATABASE|OPTIONS|SSLMODE)$/;

/** A shell takes quotes around a value away, `docker run --env-file` passes them on. */
function findQuotes(given: Environment): string[] {
  return Object.entries(given)
    .filter(
      ([name, value = '']) =>
        IN_QUOTES.test(value) && (name in environmentSchema.shape || OF_LIBPQ.test(name)),
    )
    .map(
      ([name]) =>
        `${name} begins and ends with a quotation mark, which counts as part of the value (docker run --env-file keeps it): leave both out`,
    );
}

function readProxy(url: string | undefined, exceptions = ''): HttpProxy | null {
  return url === undefined ? null : { url, exceptions };
}

function withSmallLetters(environment: Environment): Environment {
  const small = MAY_BE_SMALL.map((name) => [name, environment[name.toLowerCase()]] as const);
  return { ...environment, ...Object.fromEntries(small.filter(([, value]) => value !== undefined)) };
}

/** Returns a sentence for the API's address and the secret each that is not set. */
function missingProgram(given: Environment): string[] {
  const { AFFILIATE_API_URL, AFFILIATE_API_SECRET, AFFILIATE_API_SECRET_FILE } = given;
  const problems: string[] = [];
  if (!AFFILIATE_API_URL) {
    problems.push('AFFILIATE_API_URL is not set: give the base address of the API, without /v1');
  }
  if (!AFFILIATE_API_SECRET && !AFFILIATE_API_SECRET_FILE) {
    // Source: contract, Authentication 6.
    problems.push(
      "AFFILIATE_API_SECRET is not set (nor AFFILIATE_API_SECRET_FILE): give the API secret, which is found in the account's company settings",
    );
  }
  return problems;
}
