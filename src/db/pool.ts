// How every connection to the database is set up: search path, time zone, timeouts and value types.

import { Pool, type PoolConfig, types } from 'pg';
import type { Logger } from '../log.ts';

/** Longest wait for a connection: a database that is down must not make a command hang. */
const CONNECT_TIMEOUT_MS = 10_000;

/** The locks of a machine that lost its power are released after a minute, not after the system's two hours. */
const KEEPALIVE = ['tcp_keepalives_idle=30', 'tcp_keepalives_interval=10', 'tcp_keepalives_count=3'];

/**
 * A process that is stopped in the middle of a transaction (Ctrl-Z, a suspended container) keeps its locks for this
 * long; then the server closes its connection. Between two statements a running process needs milliseconds.
 */
export const IDLE_IN_TRANSACTION = 'idle_in_transaction_session_timeout=5s';

export interface PoolSettings {
  readonly url: string;
  /** Comes validated from the configuration: a plain lower-case name. */
  readonly schema: string;
  readonly max: number;
  readonly applicationName: string;
}

/**
 * Returns a pool whose every connection works in the mirror's schema and in UTC.
 *
 * Both are startup options, not statements, so no connection ever exists without them. (A pooler that drops startup
 * options, such as PgBouncer in transaction mode, cannot be used in between.)
 * Values: bigint is read as a number, and one that a number would distort is an error, in an array too; timestamptz is
 * read as ISO 8601 text in UTC with microseconds, because a Date would cut them; numeric stays text; json and jsonb are
 * parsed. Statement errors are pg's own, unchanged.
 */
export function makePool({ log }: { log: Logger }, settings: PoolSettings): Pool {
  const pool = new Pool({
    connectionString: withStartupOptions(settings.url, settings.schema),
    max: settings.max,
    application_name: settings.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
  });
  // Without these listeners, a connection that the server closes would end the process: the pool reports idle ones
  // only, and a connection that is checked out (the run's lock, say) reports itself.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ reason: error.message }, 'db.connection_lost'));
  });
  pool.on('error', () => {
    // The connection itself has reported it.
  });
  return pool;
}

// pg lets the address's own options win over ours, so they are joined in the address itself.
function withStartupOptions(url: string, schema: string): string {
  const address = new URL(url);
  const ours = [`search_path=${schema}`, 'timezone=UTC', IDLE_IN_TRANSACTION, ...KEEPALIVE]
    .map((setting) => `-c ${setting}`)
    .join(' ');
  const given = address.searchParams.get('options');
  address.searchParams.set('options', given === null ? ours : `${given} ${ours}`);
  return address.href;
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
