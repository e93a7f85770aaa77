// The queue of a mirror and the workers on it: in Redis if REDIS_URL is set, else in a schema of its own in the
// mirror's Postgres. redis-connection.ts and postgres-backend.ts know how each server is reached.
//
// Left out on purpose: QueueEvents (on Postgres they lose events), setGlobalConcurrency (on Postgres a waiting job
// then spins), rate limits (the budget counts requests; a queue counts only jobs).

import {
  type ConnectionOptions,
  createRedisBackend,
  type IQueueBackend,
  type Processor,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import type { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import { within } from '../../base/within.ts';
import { makePostgresBackends, postgresUnreachable } from './postgres-backend.ts';
import { QUEUE_NAME, type QueueSettings, queueSchema } from './queue-tables.ts';
import { connectToRedis } from './redis-connection.ts';

// The two backends' classes differ in type parameters that no other file needs.
type QueueClasses = ReturnType<typeof withBackend<IQueueBackend, ConnectionOptions>>;
export type WorkQueue = InstanceType<QueueClasses['Queue']>;
export type QueueWorker = InstanceType<QueueClasses['Worker']>;

/** The longest wait for a queue that does not answer, at the start and in a health check. */
const ANSWER_TIMEOUT_MS = 5000;
/**
 * BullMQ's own log of the ends of jobs, which nothing here reads. Measured on Postgres: of the 14,000 rows of 3,500
 * jobs 1,177 were left; with BullMQ's default of 10,000, 10,176.
 */
const MOST_EVENTS = 1000;
/** The reason with which a job is aborted when another worker may have it by now. */
export const LOCK_LOST = 'lock lost';

export interface QueueBackend {
  readonly kind: 'postgres' | 'redis';
  /** The server's name, without a password. */
  readonly name: string;
  /** Settings of the server that endanger the queue; a worker starts all the same. */
  readonly warnings: readonly string[];
  readonly queue: WorkQueue;
  /** Returns a worker that is connected, and not yet running. */
  makeWorker(processor: Processor, options: Omit<WorkerOptions, 'connection'>): Promise<QueueWorker>;
  /** Throws: DatabaseUnreachable if the queue does not answer. */
  check(): Promise<void>;
  /** The listener is called whenever a server that was lost, and may have lost jobs, answers again. */
  onReturn(listener: () => void): void;
  /**
   * Ends a connection that is lost at this moment: commands that wait for it fail instead of waiting until it is back.
   */
  giveUpLost(): void;
  /** Closes the queue. Each worker is closed before, by its maker. */
  close(): Promise<void>;
}

/**
 * Returns the queue, answering. `queueId` tells it from every other mirror's in the same Redis.
 *
 * Throws: DatabaseUnreachable; SchemaMismatch if it was never migrated; ConfigError if a file that the address of
 * a Redis names cannot be read. On Postgres, a queue that is opened while its server is away never works again, and
 * reports no error: so none is opened then.
 */
export async function openQueue(
  { log }: { log: Logger },
  { redisUrl, databaseUrl, mirrorSchema }: QueueSettings,
  queueId: string,
): Promise<QueueBackend> {
  let isClosing = false;
  const warnOfError = makeQuietWarning({ log }, 'queue.failed');
  const warn = (error: unknown) => {
    // The end of a connection that is closed here is no failure.
    if (!isClosing) warnOfError(error);
  };
  const schema = queueSchema(mirrorSchema);
  const redis = redisUrl === null ? null : await connectToRedis(redisUrl, warn);
  const postgres = redis === null ? makePostgresBackends({ databaseUrl, schema }) : null;
  const openBackend = (postgres?.openBackend ?? createRedisBackend) as unknown as () => IQueueBackend;
  const { Queue, Worker } = withBackend<IQueueBackend, ConnectionOptions>(openBackend);
  const server =
    redis === null
      ? { connection: {} }
      : {
          connection: redis.client,
          prefix: `affiliate-mirror:${mirrorSchema}:${queueId}`,
        };
  const asUnreachable = (error: unknown): AppError =>
    redis === null ? postgresUnreachable(error, schema) : redis.asUnreachable(error);
  const warnings = redis?.warnings ?? [];
  for (const reason of warnings) log.warn({ reason }, 'queue.unsafe');
  const queue = new Queue(QUEUE_NAME, { ...server, streams: { events: { maxLen: MOST_EVENTS } } });
  queue.on('error', warn);
  const close = async (): Promise<void> => {
    isClosing = true;
    await queue.close();
    redis?.client.disconnect();
    await postgres?.end();
  };
  const check = async (): Promise<void> => {
    try {
      if (redis?.isConnected() === false) throw new Error('the connection is lost');
      await within(ANSWER_TIMEOUT_MS, queue.getJobSchedulersCount());
    } catch (error) {
      throw asUnreachable(error);
    }
  };
  try {
    await within(ANSWER_TIMEOUT_MS, queue.waitUntilReady());
    await check();
  } catch (error) {
    await close().catch(warn);
    throw asUnreachable(error);
  }
  return {
    kind: redis === null ? 'postgres' : 'redis',
    name: redis?.name ?? 'Postgres',
    warnings,
    queue,
    async makeWorker(processor, options) {
      const worker = new Worker(QUEUE_NAME, processor, { ...options, ...server, autorun: false });
      worker.on('error', warn);
      // BullMQ reports a lost lock, and goes on working: two workers would then do the same job.
      worker.on('lockRenewalFailed', (ids) => {
        for (const id of ids) worker.cancelJob(id, LOCK_LOST);
      });
      try {
        await within(ANSWER_TIMEOUT_MS, worker.waitUntilReady());
      } catch (error) {
        await worker.close();
        throw asUnreachable(error);
      }
      return worker;
    },
    check,
    // A Postgres that was away has lost nothing.
    onReturn: (listener) => redis?.client.on('ready', listener),
    giveUpLost() {
      if (redis === null || redis.isConnected()) return;
      isClosing = true;
      redis.client.disconnect();
    },
    close,
  };
}
