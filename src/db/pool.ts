// The pool of connections to the database, and how their values are read.

import { Pool, type PoolConfig, types } from 'pg';
import type { Logger } from '../log.ts';
import { connectionConfig } from './connection-config.ts';
import { refuseSharing } from './refuse-sharing.ts';
import { makeSetUp } from './session.ts';
import type { Sockets } from './sockets.ts';

export interface PoolSettings {
  /** An accepted address of a Postgres (config/database-url.ts). */
  readonly url: string;
  /** Comes validated from the configuration: a plain lower-case name. */
  readonly schema: string;
  readonly max: number;
  readonly applicationName: string;
}

/**
 * Returns a pool whose every connection works in the mirror's schema and in UTC (see session.ts).
 *
 * Values: bigint is read as a number, and one that a number would distort is an error, in an array too; timestamptz is
 * read as ISO 8601 text in UTC with microseconds, because a Date would cut them; numeric stays text; json and jsonb are
 * parsed. Statement errors are pg's own, unchanged.
 *
 * Throws: ConfigError where a file that the address names cannot be used.
 */
export function makePool(
  { log, sockets }: { readonly log: Logger; readonly sockets?: Sockets },
  settings: PoolSettings,
): Pool {
  const pool = new Pool({ ...poolConfig(settings, sockets), types: { getTypeParser } });
  // Without these listeners, a connection that the server closes would end the process: the pool reports idle ones
  // only, and a connection that is checked out (the run's lock, say) reports itself.
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      // How a connection that we close ends is nobody's concern.
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
 * A connection keeps what was set for its role and its database when it was made: that it may only read, say, which a
 * provider resets once the disk has room again. One that is always busy would never learn of it. A new one costs
 * Postgres tens of milliseconds.
 */
const LONGEST_LIFE_SECONDS = 300;
/**
 * Longer than the usual window of 30 seconds: a sync under a limit needs all of its connections at the beginning of
 * each, and one to ask for the next. With pg's own 10 seconds, making them anew took a sixth of Postgres' time.
 */
const LONGEST_IDLE_MS = 60_000;

/**
 * Returns what a pool of such connections is made with, for the queue's own as well; values are pg's own there.
 *
 * Throws: as makePool.
 */
export function poolConfig(
  { url, schema, max, applicationName }: PoolSettings,
  sockets?: Sockets,
): PoolConfig {
  const stream = sockets === undefined ? {} : { stream: sockets.open };
  const config = { ...connectionConfig(url), ...stream, application_name: applicationName };
  const { options = '' } = config;
  return {
    ...config,
    max,
    maxLifetimeSeconds: LONGEST_LIFE_SECONDS,
    idleTimeoutMillis: LONGEST_IDLE_MS,
    onConnect: makeSetUp({ schema, options }, (client) => refuseSharing(client, config)),
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
