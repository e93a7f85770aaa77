// The connections to the database: how they are made and set up, and how their values are read.

import { Pool as PgPool, type PoolConfig, types } from 'pg';
import type { Logger } from '../../base/log.ts';
import { connectionConfig } from './connection-config.ts';
import { refuseSharing } from './refuse-sharing.ts';
import { makeSetUp, searchPath } from './session.ts';
import { makeSharedPool, type Pool, type SharedPool } from './shared-pool.ts';
import type { Sockets } from './sockets.ts';

export interface ConnectionSettings {
  /** An accepted address of a Postgres (config/database-url.ts). */
  readonly url: string;
  /** The most connections. */
  readonly max: number;
  readonly applicationName: string;
}

export interface SharedPoolSettings extends ConnectionSettings {
  /** Whether there may be several programs: none then waits for long, or takes every connection. */
  readonly isForMany: boolean;
}

export interface PoolSettings extends ConnectionSettings {
  /** Comes validated from the configuration: a plain lower-case name. */
  readonly schema: string;
}

interface PoolDeps {
  readonly log: Logger;
  readonly sockets?: Sockets;
}

/** With several programs, no statement waits longer for another's lock: its connection is needed elsewhere. */
const LONGEST_LOCK_WAIT = '60s';
/** One whose table is locked leaves room for the others. Source: measured with seven connections and 100 programs. */
const MOST_PER_PROGRAM = 3;

/** Returns the pool of a process for one program. As makeDatabasePool. */
export function makePool(deps: PoolDeps, { schema, ...settings }: PoolSettings): Pool {
  return makeDatabasePool(deps, { ...settings, isForMany: false }).of(schema);
}

/**
 * Returns a pool whose connections work in a program's schema and in UTC (see session.ts).
 *
 * Values: bigint, in an array too, becomes a number, or an error if a number cannot hold it; timestamptz becomes ISO
 * 8601 text in UTC with microseconds, because a Date would cut them; numeric stays text; json and jsonb are parsed.
 * Errors of statements are pg's own.
 *
 * Throws: ConfigError if a file that the address names cannot be used.
 */
export function makeDatabasePool(deps: PoolDeps, { isForMany, ...settings }: SharedPoolSettings): SharedPool {
  const others = { search_path: searchPath(null), ...(isForMany && { lock_timeout: LONGEST_LOCK_WAIT }) };
  const config = connectionOptions(settings, others, deps.sockets);
  return makeSharedPool({
    connections: Array.from({ length: settings.max }, () => makeOne(deps, config)),
    mostPerProgram: isForMany ? MOST_PER_PROGRAM : settings.max,
    searchPath,
  });
}

/** Returns a pg pool of one connection. */
function makeOne({ log, sockets }: PoolDeps, config: PoolConfig): PgPool {
  const pool = new PgPool({ ...config, max: 1, types: { getTypeParser } });
  // Without these listeners, a connection that the server closes would end the process. The pool reports idle
  // connections, and one that is checked out reports itself.
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      // A connection that we close ourselves is not reported.
      if (!pool.ending && sockets?.areClosed() !== true)
        log.warn({ reason: error.message }, 'db.connection_lost');
    });
  });
  pool.on('error', () => {
    // The connection itself has reported it.
  });
  return pool;
}

/**
 * A connection keeps the settings that its role and database had when it was made: a provider may make the database
 * read-only until the disk has room again, and a busy connection would never notice. A new one costs Postgres tens of
 * milliseconds.
 */
const LONGEST_LIFE_SECONDS = 300;
/**
 * Longer than the usual window of 30 seconds: a sync under a limit needs all of its connections at the beginning of
 * each window. With pg's own 10 seconds, new connections took a sixth of Postgres' time.
 */
const LONGEST_IDLE_MS = 60_000;

/**
 * Returns the options of the queue's own pool, whose connections work in its schema, with pg's own values.
 *
 * Throws: as makeDatabasePool.
 */
export function poolConfig({ schema, ...settings }: PoolSettings): PoolConfig {
  return { ...connectionOptions(settings, { search_path: schema }), max: settings.max };
}

function connectionOptions(
  { url, applicationName }: ConnectionSettings,
  others: Readonly<Record<string, string>>,
  sockets?: Sockets,
): PoolConfig {
  const stream = sockets === undefined ? {} : { stream: sockets.open };
  const config = { ...connectionConfig(url), ...stream, application_name: applicationName };
  return {
    ...config,
    maxLifetimeSeconds: LONGEST_LIFE_SECONDS,
    idleTimeoutMillis: LONGEST_IDLE_MS,
    onConnect: makeSetUp(others, (client) => refuseSharing(client, config)),
  };
}

/** Of bigint[], which pg does not name. Source: pg_type.dat of Postgres. */
const BIGINT_ARRAY = 1016;

type TypeParser = (text: string) => unknown;

const PARSERS: ReadonlyMap<number, TypeParser> = new Map<number, TypeParser>([
  [types.builtins.INT8, parseBigint],
  [BIGINT_ARRAY, parseBigints],
  [types.builtins.TIMESTAMPTZ, parseTimestamp],
]);

const getTypeParser: NonNullable<PoolConfig['types']>['getTypeParser'] = (id: number, format?: unknown) => {
  const own = format === 'binary' ? undefined : PARSERS.get(id);
  return own ?? (format === 'binary' ? types.getTypeParser(id, 'binary') : types.getTypeParser(id, 'text'));
};

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`the database returned ${text}, which a JavaScript number cannot hold`);
  }
  return value;
}

// '{1,2,3}': one dimension and no null, as everywhere here.
function parseBigints(text: string): number[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(parseBigint);
}

// '2026-01-02 03:04:05.678901+00' → '2026-01-02T03:04:05.678901Z'; the time zone is always UTC here.
function parseTimestamp(text: string): string {
  return text.replace(' ', 'T').replace(/\+00$/, 'Z');
}
