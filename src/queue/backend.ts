// The queue of a mirror, and the workers on it, whatever server keeps it (queue-server.ts).
//
// Left out on purpose: QueueEvents (on Postgres they lose events), setGlobalConcurrency (on Postgres a waiting job
// then spins), rate limits (the budget counts requests; a queue counts only jobs).

import type { Processor, WorkerOptions } from 'bullmq';
import type { Logger } from '../log.ts';
import { within } from '../within.ts';
import { openQueueServer, type QueueServer, type QueueWorker, type WorkQueue } from './queue-server.ts';
import { QUEUE_NAME, type QueueSettings } from './queue-tables.ts';
import { makeQuietWarning } from './quiet-warning.ts';

/** The longest wait for a queue that does not answer, at the start and in a health check. */
const ANSWER_TIMEOUT_MS = 5000;
/**
 * BullMQ's own log of what became of jobs, which nobody here reads. Measured on Postgres: of the 14,000 rows of 3,500
 * jobs 1,177 were left; with BullMQ's default of 10,000 it was 10,176.
 */
const KEPT_EVENTS = 1000;
/** The reason that a job is aborted with when another worker may have it by now. */
export const LOCK_LOST = 'lock lost';

export interface QueueBackend extends Pick<QueueServer, 'kind' | 'schema' | 'warnings' | 'onReturn'> {
  readonly queue: WorkQueue;
  /** Returns a worker that is connected, and not yet running. */
  makeWorker(processor: Processor, options: Omit<WorkerOptions, 'connection'>): Promise<QueueWorker>;
  /** Throws: DatabaseUnreachable where the queue does not answer. */
  check(): Promise<void>;
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
  const warn = (error: unknown) => {
    // How a connection that we close ends is nobody's concern.
    if (!isClosing) warnOfError(error);
  };
  const server = await openQueueServer(settings, queueId, warn);
  const { kind, schema, warnings, onReturn } = server;
  for (const reason of warnings) log.warn({ reason }, 'queue.unsafe');
  const queue = new server.classes.Queue(QUEUE_NAME, {
    ...server.options,
    streams: { events: { maxLen: KEPT_EVENTS } },
  });
  queue.on('error', warn);
  const close = async (): Promise<void> => {
    isClosing = true;
    await queue.close();
    await server.end();
  };
  try {
    await within(ANSWER_TIMEOUT_MS, queue.waitUntilReady());
    await checkAnswer(server, queue);
  } catch (error) {
    await close().catch(warn);
    throw server.asUnreachable(error);
  }
  return {
    kind,
    queue,
    schema,
    warnings,
    async makeWorker(processor, options) {
      const worker = new server.classes.Worker(QUEUE_NAME, processor, {
        ...options,
        ...server.options,
        autorun: false,
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
        throw server.asUnreachable(error);
      }
      return worker;
    },
    async check() {
      try {
        await checkAnswer(server, queue);
      } catch (error) {
        throw server.asUnreachable(error);
      }
    },
    onReturn,
    giveUpLost() {
      if (server.isConnected()) return;
      isClosing = true;
      server.giveUp();
    },
    close,
  };
}

/** Resolves where the queue answers, and takes jobs. */
async function checkAnswer(server: QueueServer, queue: WorkQueue): Promise<void> {
  if (!server.isConnected()) throw new Error('the connection is lost');
  await within(ANSWER_TIMEOUT_MS, queue.getJobSchedulersCount());
  await within(ANSWER_TIMEOUT_MS, server.checkWrites());
}
