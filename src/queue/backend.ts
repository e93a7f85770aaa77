// Where the queue is kept: Redis where an address is given, else a schema of its own in the mirror's Postgres. The
// only file that opens BullMQ's backends or imports ioredis.
//
// Connections of one worker process: on Postgres 4 (1 adds jobs, 2 work, 1 listens), on Redis 2 (1 shared, 1 blocks).
// Left out on purpose: QueueEvents (on Postgres they lose events), setGlobalConcurrency (on Postgres a waiting job
// then spins), rate limits (the budget counts requests; a queue counts only jobs).

import { createHash } from 'node:crypto';
import {
  assertSchemaCompatibility,
  type ConnectionOptions,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  LATEST_SCHEMA_VERSION,
  type Processor,
  runMigrations as runQueueMigrations,
  SchemaMigrationRequiredError,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import { Redis } from 'ioredis';
import { IDLE_IN_TRANSACTION } from '../db/pool.ts';
import { AppError, DatabaseUnreachable, SchemaMismatch } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { makeQuietWarning } from './quiet-warning.ts';
import { within } from './within.ts';

/** One queue for all work of a mirror: all of it is paused together, and each queue costs connections. */
const QUEUE_NAME = 'work';
/** A Redis that is back is found within this. Source: measured; ioredis' own pause grows to 20 s. */
const LONGEST_RECONNECT_MS = 2000;
/** The longest wait for a queue that does not answer, at the start and in a health check. */
const ANSWER_TIMEOUT_MS = 5000;
/**
 * BullMQ's own log of what became of jobs, which nobody here reads. Measured on Postgres: of the 14,000 rows of 3,500
 * jobs 1,177 were left; with BullMQ's default of 10,000 it was 10,176.
 */
const KEPT_EVENTS = 1000;
const QUEUE_CONNECTIONS = 1;
const WORKER_CONNECTIONS = 2;
/** Of a name in Postgres. */
const LONGEST_NAME = 63;
/** No job carries more than the key of a row. */
export const LARGEST_JOB_BYTES = 16_384;

// The two backends' classes differ in type parameters that no other file needs.
type QueueClasses = ReturnType<typeof withBackend<IQueueBackend, ConnectionOptions>>;
export type WorkQueue = InstanceType<QueueClasses['Queue']>;
export type QueueWorker = InstanceType<QueueClasses['Worker']>;

export interface QueueSettings {
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly mirrorSchema: string;
}

export interface QueueBackend {
  readonly kind: 'postgres' | 'redis';
  readonly queue: WorkQueue;
  /** Of BullMQ's own tables; null on Redis. */
  readonly schema: string | null;
  /** Returns a worker that is connected, and not yet running. */
  makeWorker(processor: Processor, options: Omit<WorkerOptions, 'connection'>): Promise<QueueWorker>;
  /** Throws: DatabaseUnreachable where the queue does not answer. */
  check(): Promise<void>;
  /** The listener is called whenever a queue that was lost answers again. */
  onReturn(listener: () => void): void;
  /** Closes the queue; each worker is closed by whoever made it, before. */
  close(): Promise<void>;
}

/** Brings BullMQ's own tables up to date where the queue is in Postgres. Idempotent: yes. */
export async function migrateQueue(pool: ConnectionPool, settings: QueueSettings): Promise<void> {
  if (settings.redisUrl !== null) return;
  const schema = queueSchema(settings.mirrorSchema);
  const client = await pool.connect();
  let isBroken = true;
  try {
    await runQueueMigrations(client, schema);
    // Every job leaves dead rows behind, and claiming one slows down with each until they are vacuumed.
    for (const table of ['job', 'event']) {
      await client.query(`alter table ${schema}.${table}
        set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`);
    }
    isBroken = false;
  } finally {
    client.release(isBroken);
  }
}

/**
 * Checks that BullMQ's own tables are those of the BullMQ that is installed. Redis has none.
 *
 * Throws: SchemaMismatch where they are not.
 */
export async function checkQueueSchema(pool: ConnectionPool, settings: QueueSettings): Promise<void> {
  if (settings.redisUrl !== null) return;
  const schema = queueSchema(settings.mirrorSchema);
  const client = await pool.connect();
  try {
    const version = await assertSchemaCompatibility(client, schema);
    if (version < LATEST_SCHEMA_VERSION) throw notMigrated(schema);
  } catch (error) {
    throw error instanceof SchemaMigrationRequiredError ? notMigrated(schema) : error;
  } finally {
    client.release();
  }
}

/**
 * Returns the queue, answering. `queueId` tells it from every other mirror's in the same Redis.
 *
 * Throws: DatabaseUnreachable; SchemaMismatch where it was never migrated. On Postgres, a queue that is opened while
 * its server is away never works again, and reports no error: so none is opened then.
 */
export async function openQueue(
  deps: { log: Logger },
  settings: QueueSettings,
  queueId: string,
): Promise<QueueBackend> {
  const warn = makeQuietWarning(deps, 'queue.error');
  const { classes, connections, prefix, isConnected, onReturn, end } =
    settings.redisUrl === null
      ? openPostgres(settings)
      : openRedis(settings.redisUrl, `affiliate-mirror:${settings.mirrorSchema}:${queueId}`, warn);
  const queue = new classes.Queue(QUEUE_NAME, {
    connection: connections.queue,
    streams: { events: { maxLen: KEPT_EVENTS } },
    ...prefix,
  });
  queue.on('error', warn);
  const answer = async (): Promise<void> => {
    if (!isConnected())
      throw new DatabaseUnreachable('the queue cannot be reached: check REDIS_URL and its server');
    await within(ANSWER_TIMEOUT_MS, queue.getJobSchedulersCount());
  };
  const close = async (): Promise<void> => {
    await queue.close();
    end();
  };
  try {
    await within(ANSWER_TIMEOUT_MS, queue.waitUntilReady());
    await answer();
  } catch (error) {
    await close().catch(warn);
    throw unreachable(error, settings);
  }
  return {
    kind: settings.redisUrl === null ? 'postgres' : 'redis',
    queue,
    schema: settings.redisUrl === null ? queueSchema(settings.mirrorSchema) : null,
    async makeWorker(processor, options) {
      const worker = new classes.Worker(QUEUE_NAME, processor, {
        ...options,
        ...prefix,
        autorun: false,
        connection: connections.worker,
      });
      worker.on('error', warn);
      // BullMQ reports a lost lock, and goes on working: two workers would then do the same job.
      worker.on('lockRenewalFailed', (ids) => {
        for (const id of ids) worker.cancelJob(id, LOCK_LOST);
      });
      try {
        await within(ANSWER_TIMEOUT_MS, worker.waitUntilReady());
      } catch (error) {
        await worker.close();
        throw unreachable(error, settings);
      }
      return worker;
    },
    async check() {
      try {
        await answer();
      } catch (error) {
        throw unreachable(error, settings);
      }
    },
    onReturn,
    close,
  };
}

/** The reason that a job is aborted with when another worker may have it by now. */
export const LOCK_LOST = 'lock lost';

interface Opened {
  readonly classes: QueueClasses;
  readonly connections: { readonly queue: ConnectionOptions; readonly worker: ConnectionOptions };
  readonly prefix: { readonly prefix?: string };
  readonly isConnected: () => boolean;
  readonly onReturn: (listener: () => void) => void;
  readonly end: () => void;
}

function openPostgres({ databaseUrl, mirrorSchema }: QueueSettings): Opened {
  const address = new URL(databaseUrl);
  // Options in the address itself would win over the search path that BullMQ puts beside it.
  const options = address.searchParams.get('options');
  address.searchParams.delete('options');
  const connection = (max: number) => ({
    connectionString: address.href,
    schema: queueSchema(mirrorSchema),
    max,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    application_name: 'affiliate-mirror queue',
    options: [options, `-c ${IDLE_IN_TRANSACTION}`].filter((option) => option !== null).join(' '),
  });
  return {
    classes: withBackend(createPostgresBackend) as unknown as QueueClasses,
    connections: { queue: connection(QUEUE_CONNECTIONS), worker: connection(WORKER_CONNECTIONS) },
    prefix: {},
    isConnected: () => true,
    // A Postgres that was away has lost nothing.
    onReturn: () => {},
    end: () => {},
  };
}

function openRedis(url: string, prefix: string, warn: (error: unknown) => void): Opened {
  const redis = new Redis(url, {
    // With a limit, a job that ends while Redis is away could never be ended.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(times * 200, LONGEST_RECONNECT_MS),
    connectionName: 'affiliate-mirror',
  });
  redis.on('error', warn);
  return {
    classes: withBackend(createRedisBackend) as unknown as QueueClasses,
    connections: { queue: redis, worker: redis },
    prefix: { prefix },
    isConnected: () => redis.status === 'ready' || redis.status === 'connecting',
    onReturn: (listener) => redis.on('ready', listener),
    end: () => redis.disconnect(),
  };
}

/** Returns the schema of a mirror's queue: beside the mirror's own, so that two mirrors never share one. */
export function queueSchema(mirrorSchema: string): string {
  const name = `${mirrorSchema}_queue`;
  if (name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(mirrorSchema).digest('hex').slice(0, 8);
  return `${mirrorSchema.slice(0, LONGEST_NAME - '_queue_'.length - digest.length)}_queue_${digest}`;
}

function unreachable(error: unknown, { redisUrl, mirrorSchema }: QueueSettings): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof SchemaMigrationRequiredError) return notMigrated(queueSchema(mirrorSchema));
  const hint =
    redisUrl === null
      ? `the queue in the schema ${queueSchema(mirrorSchema)} of DATABASE_URL does not answer: check that Postgres runs`
      : `the queue in Redis at ${new URL(redisUrl).host} does not answer: check REDIS_URL and that Redis runs there`;
  return new DatabaseUnreachable(hint, { cause: error });
}

function notMigrated(schema: string): SchemaMismatch {
  return new SchemaMismatch(
    `the schema ${schema}, which keeps the queue, is not up to date: run affiliate-mirror migrate`,
  );
}
