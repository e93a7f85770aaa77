// How BullMQ reaches the queue's schema in Postgres: over pools of our own, set up as every other connection is.
//
// BullMQ's own pools set their search path by a startup option, which poolers refuse, and its migrations ask for the
// right to create schemas where the schema is there already.

import {
  type createPostgresBackend,
  type PgPool,
  type PgQueryable,
  PostgresConnection,
  PostgresQueueBackend,
} from 'bullmq';
import { Pool } from 'pg';
import { isLackOfRights } from '../db/as-database-error.ts';
import { mayNotCreateSchema } from '../db/migrate.ts';
import { onlyRow } from '../db/only-row.ts';
import { poolConfig } from '../db/pool.ts';

/** Adds jobs. */
const QUEUE_CONNECTIONS = 1;
/** Two work, and one listens. */
const WORKER_CONNECTIONS = 3;
/** The longest wait for a connection. */
const CONNECT_TIMEOUT_MS = 5000;

export interface PostgresBackends {
  /** For BullMQ's `withBackend`. Each of its objects has a pool of its own, since it leaves a listener on it. */
  readonly openBackend: typeof createPostgresBackend;
  /** Resolves once the connections of every object that was closed are closed. */
  readonly end: () => Promise<void>;
}

/** Returns the factory of BullMQ's backends on the queue's schema. */
export function makePostgresBackends(at: { databaseUrl: string; schema: string }): PostgresBackends {
  const endings: Promise<void>[] = [];
  return {
    openBackend: (name, options, { withBlockingConnection } = {}) => {
      const max = withBlockingConnection === true ? WORKER_CONNECTIONS : QUEUE_CONNECTIONS;
      const pool = openPool(at, max);
      const connection = new PostgresConnection(pool as unknown as PgPool);
      // A pool carries no schema: BullMQ would look at the tables of its default one.
      Object.assign(connection, { schema: at.schema });
      connection.once('close', () => endings.push(pool.end()));
      return new PostgresQueueBackend(connection, name, options);
    },
    end: async () => {
      await Promise.all(endings);
    },
  };
}

function openPool({ databaseUrl, schema }: { databaseUrl: string; schema: string }, max: number): Pool {
  const settings = { url: databaseUrl, schema, max, applicationName: 'affiliate-mirror queue' };
  const pool = new Pool({ ...poolConfig(settings), connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // The pool reports idle connections; one that is in use is reported by its statement.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * Returns the connection, which leaves out BullMQ's "create schema if not exists" where the schema exists: Postgres
 * asks for the right to create schemas all the same, and a schema that a DBA prepared makes it needless.
 */
export function withoutCreatingSchema(client: PgQueryable, schema: string): PgQueryable {
  return {
    async query<R>(text: string, values?: readonly unknown[]) {
      if (!text.startsWith('CREATE SCHEMA IF NOT EXISTS')) return client.query<R>(text, values);
      const found = await client.query<R>('select from pg_namespace where nspname = $1', [schema]);
      if (found.rows.length > 0) return found;
      try {
        return await client.query<R>(text, values);
      } catch (error) {
        throw isLackOfRights(error) ? mayNotCreateSchema(schema, error) : error;
      }
    },
  };
}

/** Makes the sequence of a queue's jobs: BullMQ makes it with the first of them, which a worker's role may not. */
export async function makeJobSequence(client: PgQueryable, schema: string, queue: string): Promise<void> {
  const answer = await client.query<{ name: string }>(`select ${schema}.job_id_seq_name($1) as name`, [
    queue,
  ]);
  const row = onlyRow(answer, 'job_id_seq_name');
  await client.query(`create sequence if not exists ${schema}.${row.name}`);
}
