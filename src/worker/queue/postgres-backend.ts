// How BullMQ reaches the queue's schema in Postgres: over a pool of our own, set up as every other connection is.
// BullMQ's own pools set their search path by a startup option, which poolers refuse.

import { type createPostgresBackend, type PgPool, PostgresConnection, PostgresQueueBackend } from 'bullmq';
import { Pool } from 'pg';
import { AppError, DatabaseUnreachable } from '../../base/errors.ts';
import { poolConfig } from '../../db/connect/pool.ts';
import { isShortOfConnections, NO_CONNECTION_LEFT } from '../../db/database-errors.ts';
import { asMismatch } from './queue-tables.ts';

/**
 * One listens. The others end jobs, each by a commit: Postgres writes out several of these at once. At rest two are
 * open besides.
 */
const MOST_CONNECTIONS = 4;
/** The longest wait for a connection. */
const CONNECT_TIMEOUT_MS = 5000;

export interface PostgresBackends {
  /** For BullMQ's `withBackend`. */
  readonly openBackend: typeof createPostgresBackend;
  /** Closes the connections. Everything that was opened is closed before. */
  readonly end: () => Promise<void>;
}

/** Returns the factory of BullMQ's backends on the queue's schema, all of them on one pool. */
export function makePostgresBackends({
  databaseUrl,
  schema,
}: {
  databaseUrl: string;
  schema: string;
}): PostgresBackends {
  const applicationName = 'affiliate-mirror queue';
  const settings = poolConfig({ url: databaseUrl, schema, max: MOST_CONNECTIONS, applicationName });
  const pool = new Pool({ ...settings, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // The pool reports idle connections; one that is in use is reported by its statement.
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    openBackend: (name, options) => {
      const connection = new PostgresConnection(pool as unknown as PgPool);
      // A pool carries no schema: BullMQ would look at the tables of its default one.
      Object.assign(connection, { schema });
      return new PostgresQueueBackend(connection, name, options);
    },
    end: () => pool.end(),
  };
}

/** Returns what to report of a queue in the schema that failed with the error. */
export function postgresUnreachable(thrown: unknown, schema: string): AppError {
  const error = asMismatch(thrown, schema);
  if (error instanceof AppError) return error;
  const why = isShortOfConnections(error) ? NO_CONNECTION_LEFT : 'check that Postgres runs';
  return new DatabaseUnreachable(
    `the queue in the schema ${schema} of DATABASE_URL does not answer: ${why}`,
    { cause: error },
  );
}
