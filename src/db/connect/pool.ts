// The pool of connections to the database, and how their values are read.

import { Pool, type PoolConfig, types } from 'pg';
import type { Logger } from '../../base/log.ts';
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
 * Returns a pool whose connections work in the mirror's schema and in UTC (see session.ts).
 *
 * Values: bigint, in an array too, becomes a number, or an error if a number cannot hold it; timestamptz becomes ISO
 * 8601 text in UTC with microseconds, because a Date would cut them; numeric stays text; json and jsonb are parsed.
 * Errors of statements are pg's own.
 *
 * Throws: ConfigError if a file that the address names cannot be used.
 */
export function makePool(
  { log, sockets }: { readonly log: Logger; readonly sockets?: Sockets },
  settings: PoolSettings,
): Pool {
  const pool = new Pool({ ...poolConfig(settings, sockets), types: { getTypeParser } });
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
 * Returns the options of such a pool; the queue's pool uses them too, with pg's own values. Throws: as makePool.
 */
export function poolConfig(
  { url, schema, max, applicationName }: PoolSettings,
  sockets?: Sockets,
): PoolConfig {
  const stream = sockets === undefined ? {} : { stream: sockets.open };
  const config = { ...connectionConfig(url), ...stream, application_name: applicationName };
  return {
    ...config,
    max,
    maxLifetimeSeconds: LONGEST_LIFE_SECONDS,
    idleTimeoutMillis: LONGEST_IDLE_MS,
    onConnect: makeSetUp(schema, (client) => refuseSharing(client, config)),
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
