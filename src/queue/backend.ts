// Where the queue is kept: Redis where an address is given, else a schema of its own in the mirror's Postgres. The
// only file that opens BullMQ's backends; redis-connection.ts knows how Redis is reached.
//
// Connections of one worker process: on Postgres 4 (postgres-backend.ts), on Redis 2 (1 shared, 1 blocks).
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
import type { Redis } from 'ioredis';
import { describeError } from '../describe-error.ts';
import { AppError, DatabaseUnreachable } from '../errors.ts';
import type { Logger } from '../log.ts';
import { within } from '../within.ts';
import { makePostgresBackends } from './postgres-backend.ts';
import { asMismatch, QUEUE_NAME, type QueueSettings, queueSchema } from './queue-tables.ts';
import { makeQuietWarning } from './quiet-warning.ts';
import { connectToRedis, nameRedis } from './redis-connection.ts';

/** The longest wait for a queue that does not answer, at the start and in a health check. */
const ANSWER_TIMEOUT_MS = 5000;
/**
 * BullMQ's own log of what became of jobs, which nobody here reads. Measured on Postgres: of the 14,000 rows of 3,500
 * jobs 1,177 were left; with BullMQ's default of 10,000 it was 10,176.
 */
const KEPT_EVENTS = 1000;
// The two backends' classes differ in type parameters that no other file needs.
type QueueClasses = ReturnType<typeof withBackend<IQueueBackend, ConnectionOptions>>;
export type WorkQueue = InstanceType<QueueClasses['Queue']>;
export type QueueWorker = InstanceType<QueueClasses['Worker']>;

export interface QueueBackend {
  readonly kind: 'postgres' | 'redis';
  readonly queue: WorkQueue;
  /** Of BullMQ's own tables; null on Redis. */
  readonly schema: string | null;
  /** What is not as it should be with its server, though a worker works. */
  readonly warnings: readonly string[];
  /** Returns a worker that is connected, and not yet running. */
  makeWorker(processor: Processor, options: Omit<WorkerOptions, 'connection'>): Promise<QueueWorker>;
  /** Throws: DatabaseUnreachable where the queue does not answer. */
  check(): Promise<void>;
  /** The listener is called whenever a queue that was lost answers again. */
  onReturn(listener: () => void): void;
  /**
   * Ends a connection that is lost at this moment: what waits for it then fails, instead of waiting until it is back.
   */
  giveUpLost(): void;
  /** Closes the queue; each worker is closed by whoever made it, before. */
  close(): Promise<void>;
}

/**
 * Returns the queue, answering. `queueId` tells it from every other mirror's in the same Redis.
 *
 * Throws: DatabaseUnreachable; SchemaMismatch where it was never migrated. On Postgres, a queue that is opened while
 * its server is away never works again, and reports no error: so none is opened then.
 */
export async function openQueue(
  { log }: { log: Logger },
  settings: QueueSettings,
  queueId: string,
): Promise<QueueBackend> {
  let isClosing = false;
  const warnOfError = makeQuietWarning({ log }, 'queue.failed');
  // How a connection that we close ends is nobody's concern.
  const warn: typeof warnOfError = (error) => {
    if (!isClosing) warnOfError(error);
  };
  const {
    classes,
    connections,
    prefix,
    warnings,
    isConnected,
    lastFailure,
    checkWrites,
    onReturn,
    giveUp,
    end,
  } =
    settings.redisUrl === null
      ? openPostgres(settings)
      : await openRedis(settings.redisUrl, redisPrefix(settings.mirrorSchema, queueId), warn);
  for (const reason of warnings) log.warn({ reason }, 'queue.unsafe');
  const queue = new classes.Queue(QUEUE_NAME, {
    connection: connections.queue,
    streams: { events: { maxLen: KEPT_EVENTS } },
    ...prefix,
  });
  queue.on('error', warn);
  const answer = async (): Promise<void> => {
    if (!isConnected()) throw new Error('the connection is lost');
    await within(ANSWER_TIMEOUT_MS, queue.getJobSchedulersCount());
    await within(ANSWER_TIMEOUT_MS, checkWrites());
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    await queue.close();
    await end();
  };
  try {
    await within(ANSWER_TIMEOUT_MS, queue.waitUntilReady());
    await answer();
  } catch (error) {
    await close().catch(warn);
    throw unreachable(error, settings, lastFailure());
  }
  return {
    kind: settings.redisUrl === null ? 'postgres' : 'redis',
    queue,
    schema: settings.redisUrl === null ? queueSchema(settings.mirrorSchema) : null,
    warnings,
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
        throw unreachable(error, settings, lastFailure());
      }
      return worker;
    },
    async check() {
      try {
        await answer();
      } catch (error) {
        throw unreachable(error, settings, lastFailure());
      }
    },
    onReturn,
    giveUpLost() {
      if (isConnected()) return;
      isClosing = true;
      giveUp();
    },
    close,
  };
}

/** The reason that a job is aborted with when another worker may have it by now. */
export const LOCK_LOST = 'lock lost';

interface Opened {
  readonly classes: QueueClasses;
  readonly connections: { readonly queue: ConnectionOptions; readonly worker: ConnectionOptions };
  readonly prefix: { readonly prefix?: string };
  readonly warnings: readonly string[];
  readonly isConnected: () => boolean;
  readonly lastFailure: () => string | null;
  /** Throws: DatabaseUnreachable where the queue answers, and takes no jobs. */
  readonly checkWrites: () => Promise<void>;
  readonly onReturn: (listener: () => void) => void;
  readonly giveUp: () => void;
  readonly end: () => Promise<void>;
}

function openPostgres({ databaseUrl, mirrorSchema }: QueueSettings): Opened {
  const { openBackend, end } = makePostgresBackends({ databaseUrl, schema: queueSchema(mirrorSchema) });
  return {
    classes: withBackend(openBackend) as unknown as QueueClasses,
    connections: { queue: {}, worker: {} },
    prefix: {},
    warnings: [],
    isConnected: () => true,
    lastFailure: () => null,
    // Whether Postgres takes writes is another check's matter.
    checkWrites: async () => {},
    // A Postgres that was away has lost nothing.
    onReturn: () => {},
    giveUp: () => {},
    end,
  };
}

async function openRedis(url: string, prefix: string, warn: (error: unknown) => void): Promise<Opened> {
  const { client, warnings, isConnected, lastFailure, checkWrites } = await connectToRedis(url, warn);
  // BullMQ takes a Cluster as it takes a client, and its types know only the client.
  const connection = client as Redis;
  return {
    classes: withBackend(createRedisBackend) as unknown as QueueClasses,
    connections: { queue: connection, worker: connection },
    prefix: { prefix },
    warnings,
    isConnected,
    lastFailure,
    checkWrites,
    onReturn: (listener) => client.on('ready', listener),
    giveUp: () => client.disconnect(),
    end: async () => client.disconnect(),
  };
}

/** Braces keep all keys of a queue on one node of a Cluster, as BullMQ's scripts need. */
function redisPrefix(mirrorSchema: string, queueId: string): string {
  return `{affiliate-mirror:${mirrorSchema}:${queueId}}`;
}

function unreachable(
  thrown: unknown,
  { redisUrl, mirrorSchema }: QueueSettings,
  lastFailure: string | null,
): AppError {
  const error = asMismatch(thrown, queueSchema(mirrorSchema));
  if (error instanceof AppError) return error;
  if (redisUrl !== null) {
    const why = lastFailure === null ? describeError(error) : lastFailure;
    return new DatabaseUnreachable(`the queue in Redis at ${nameRedis(redisUrl)} does not answer: ${why}`);
  }
  return new DatabaseUnreachable(
    `the queue in the schema ${queueSchema(mirrorSchema)} of DATABASE_URL does not answer: check that Postgres runs`,
    { cause: error },
  );
}
