// What keeps the queue: Redis where an address is given, else a schema of its own in the mirror's Postgres. The only
// file that opens BullMQ's backends; redis-connection.ts and postgres-backend.ts know how each server is reached.
//
// Connections of one worker process: on Postgres 4 (postgres-backend.ts), on Redis 2 (1 shared, 1 blocks).

import { type ConnectionOptions, createRedisBackend, type IQueueBackend, withBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { isShortOfConnections, NO_CONNECTION_LEFT } from '../db/as-database-error.ts';
import { describeError } from '../describe-error.ts';
import { AppError, DatabaseUnreachable } from '../errors.ts';
import { makePostgresBackends } from './postgres-backend.ts';
import { asMismatch, type QueueSettings, queueSchema } from './queue-tables.ts';
import { connectToRedis, nameRedis } from './redis-connection.ts';

// The two backends' classes differ in type parameters that no other file needs.
type QueueClasses = ReturnType<typeof withBackend<IQueueBackend, ConnectionOptions>>;
export type WorkQueue = InstanceType<QueueClasses['Queue']>;
export type QueueWorker = InstanceType<QueueClasses['Worker']>;

export interface QueueServer {
  readonly kind: 'postgres' | 'redis';
  /** Of BullMQ's own tables; null on Redis. */
  readonly schema: string | null;
  readonly classes: QueueClasses;
  /** By which a queue and its workers reach the server. */
  readonly options: { readonly connection: ConnectionOptions; readonly prefix?: string };
  /** What is not as it should be with the server, though a worker works. */
  readonly warnings: readonly string[];
  isConnected(): boolean;
  /** Throws: DatabaseUnreachable where the server answers, and takes no jobs. */
  checkWrites(): Promise<void>;
  /** Returns what to report of a queue that failed with the error. */
  asUnreachable(error: unknown): AppError;
  /** The listener is called whenever a server that was lost, and may have lost jobs, answers again. */
  onReturn(listener: () => void): void;
  /** Ends a connection that is lost: what waits for it then fails. */
  giveUp(): void;
  /** Ends the connections, once the queue and its workers are closed. */
  end(): Promise<void>;
}

/** Returns the server. `warn` is called with each error of its connection. Throws: what `connectToRedis` throws. */
export async function openQueueServer(
  { redisUrl, databaseUrl, mirrorSchema }: QueueSettings,
  queueId: string,
  warn: (error: unknown) => void,
): Promise<QueueServer> {
  if (redisUrl === null) return openPostgres(databaseUrl, queueSchema(mirrorSchema));
  // Braces keep all keys of a queue on one node of a Cluster, as BullMQ's scripts need.
  return await openRedis(redisUrl, `{affiliate-mirror:${mirrorSchema}:${queueId}}`, warn);
}

function openPostgres(databaseUrl: string, schema: string): QueueServer {
  const { openBackend, end } = makePostgresBackends({ databaseUrl, schema });
  return {
    kind: 'postgres',
    schema,
    classes: withBackend(openBackend) as unknown as QueueClasses,
    options: { connection: {} },
    warnings: [],
    isConnected: () => true,
    // Whether Postgres takes writes is another check's matter.
    checkWrites: async () => {},
    asUnreachable(thrown) {
      const error = asMismatch(thrown, schema);
      if (error instanceof AppError) return error;
      const why = isShortOfConnections(error) ? NO_CONNECTION_LEFT : 'check that Postgres runs';
      return new DatabaseUnreachable(
        `the queue in the schema ${schema} of DATABASE_URL does not answer: ${why}`,
        { cause: error },
      );
    },
    // A Postgres that was away has lost nothing.
    onReturn: () => {},
    giveUp: () => {},
    end,
  };
}

async function openRedis(url: string, prefix: string, warn: (error: unknown) => void): Promise<QueueServer> {
  const { client, warnings, isConnected, lastFailure, checkWrites } = await connectToRedis(url, warn);
  return {
    kind: 'redis',
    schema: null,
    classes: withBackend(createRedisBackend) as unknown as QueueClasses,
    // BullMQ takes a Cluster as it takes a client, and its types know only the client.
    options: { connection: client as Redis, prefix },
    warnings,
    isConnected,
    checkWrites,
    asUnreachable(error) {
      if (error instanceof AppError) return error;
      const why = lastFailure() ?? describeError(error);
      return new DatabaseUnreachable(`the queue in Redis at ${nameRedis(url)} does not answer: ${why}`);
    },
    onReturn: (listener) => client.on('ready', listener),
    giveUp: () => client.disconnect(),
    end: async () => client.disconnect(),
  };
}
