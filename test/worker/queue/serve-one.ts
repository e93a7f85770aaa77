// A worker of one program, as the command `work` puts it together without PROGRAMS_FILE.

import type { Logger } from '../../../src/base/log.ts';
import type { Database } from '../../../src/db/database.ts';
import type { QueueSettings } from '../../../src/worker/queue/queue-tables.ts';
import type { ServedProgram, Serving } from '../../../src/worker/queue/served-program.ts';
import { type RunningWorker, startWorker } from '../../../src/worker/queue/start-worker.ts';
import type { Timings } from '../../../src/worker/queue/timings.ts';
import { readQueueId } from '../../../src/worker/queue/worker-state.ts';

export const MOST_JOBS = 200;

interface Settings extends Pick<ServedProgram, 'sources'> {
  readonly queue: QueueSettings;
  readonly timings?: Partial<Timings>;
  readonly signal?: AbortSignal;
}

/** Returns the worker, which serves the program; `ended` is of both. */
export async function serveOne(
  { db, log, ...program }: { db: Database; log: Logger } & Pick<ServedProgram, 'probe' | 'checkMirror'>,
  { queue, sources, timings = {}, signal = new AbortController().signal }: Settings,
): Promise<RunningWorker & Pick<Serving, 'wake'>> {
  const queueId = await readQueueId(db);
  const worker = await startWorker({ db, log }, { queue, queueId, timings, signal, mostJobs: MOST_JOBS });
  try {
    const { wake, ended } = await worker.serve({ name: null, db, log, ...program, sources }, signal);
    return { ...worker, wake, ended: Promise.race([worker.ended, ended]) };
  } catch (error) {
    await worker.stop();
    throw error;
  }
}
