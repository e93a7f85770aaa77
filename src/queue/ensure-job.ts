// Makes sure that what is due has a job in the queue. Needs no lock: several workers may do so at once.

import type { Duty } from './duty.ts';
import type { WorkQueue } from './queue-server.ts';
import type { Timings } from './timings.ts';
import { hasOtherTurn, type Named } from './turns.ts';

/** The largest that a job may be: it carries a moment. */
const LARGEST_JOB_BYTES = 16_384;
/**
 * A job that ended well is gone: the run log and the payment ledger keep what matters, and its identifier may be due
 * again. One that was given up is kept for a week (`age`, in seconds), and not tried again meanwhile. No `count`:
 * on Postgres each job that ends would then look for those beyond it, and two that end at once can deadlock (measured).
 */
const KEPT = { removeOnComplete: true, removeOnFail: { age: 604_800 } };
/** Every worker brings the strategy of this name. */
const BACKOFF = 'full-jitter';

/**
 * Adds a job for the first of `due` that was not given up, unless one of the duty waits or runs; one that waits after a
 * failure is woken for what did not fail. Returns the identifier of the job that it added; null where it added none.
 */
export async function ensureJob(
  queue: WorkQueue,
  { name, mostAttempts }: Pick<Duty, 'name'> & Pick<Timings, 'mostAttempts'>,
  due: readonly Named[],
  cause: string | null = null,
): Promise<string | null> {
  if (due.length === 0) return null;
  const holder = await queue.getDeduplicationJobId(name);
  if (holder !== null && (await isUnfinished(queue, holder, due))) return null;
  for (const { id, atMs } of due) {
    if (await wasGivenUp(queue, id)) continue;
    // A key that outlived its job would swallow every later one; not one of a job that was added meanwhile.
    if (holder !== null && (await queue.getDeduplicationJobId(name)) === holder) {
      await queue.removeDeduplicationKey(name);
    }
    await queue.add(
      name,
      // The step of a trace that it is done for, where there is one.
      { atMs, ...(cause !== null && { cause }) },
      {
        jobId: id,
        attempts: mostAttempts,
        backoff: { type: BACKOFF },
        deduplication: { id: name },
        sizeLimit: LARGEST_JOB_BYTES,
        ...KEPT,
      },
    );
    return id;
  }
  return null;
}

/** Returns whether the job of this identifier was given up. */
export async function wasGivenUp(queue: WorkQueue, id: string): Promise<boolean> {
  return (await (await queue.getJob(id))?.getState()) === 'failed';
}

async function isUnfinished(queue: WorkQueue, id: string, due: readonly Named[]): Promise<boolean> {
  const job = await queue.getJob(id);
  const state = await job?.getState();
  if (job === undefined || state === undefined || ENDED.includes(state)) return false;
  if (
    state === 'delayed' &&
    (await hasOtherTurn({ wasGivenUp: (one) => wasGivenUp(queue, one) }, job, due))
  ) {
    // Not promote(): on Postgres that also takes a job back which a worker took at the same moment, and it is done
    // twice at once. A delay of an active job means nothing. It fails where another worker was first.
    await job.changeDelay(0).catch(() => undefined);
  }
  return true;
}

const ENDED = ['completed', 'failed', 'unknown'];
