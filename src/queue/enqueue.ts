// From a row of wanted work to the queue's job that does it. The job carries the row's key and nothing else.

import type { WorkQueue } from './backend.ts';
import type { JobKinds, WantedJob } from './wanted-jobs.ts';

/** The largest that a job may be: it carries a key. */
const LARGEST_JOB_BYTES = 16_384;
/**
 * Finished jobs are kept for a look, for so many seconds. The run log and the payment ledger keep what matters. No
 * `count`: on Postgres each job that ends would then look for those beyond it, which costs almost half of the speed,
 * and two that end at once can deadlock (both measured).
 */
const KEPT = { removeOnComplete: { age: 3600 }, removeOnFail: { age: 604_800 } };
/** Every worker brings the strategy of this name. */
const BACKOFF = 'full-jitter';

/** Adds a job for the key, unless one waits; where one runs, the new job follows it. */
export async function enqueue(queue: WorkQueue, kinds: JobKinds, { key, name }: WantedJob): Promise<void> {
  await queue.add(
    name,
    { key },
    {
      attempts: kinds[name]?.attempts ?? 1,
      backoff: { type: BACKOFF },
      deduplication: { id: key, keepLastIfActive: true },
      sizeLimit: LARGEST_JOB_BYTES,
      ...KEPT,
    },
  );
}

/** Returns whether it had to enqueue the key: true where no job that waits or runs had it. */
export async function ensureEnqueued(queue: WorkQueue, kinds: JobKinds, wanted: WantedJob): Promise<boolean> {
  const id = await queue.getDeduplicationJobId(wanted.key);
  if (id !== null) {
    const state = await (await queue.getJob(id))?.getState();
    if (state !== undefined && !ENDED.includes(state)) return false;
    // A key that outlived its job would swallow every later one.
    await queue.removeDeduplicationKey(wanted.key);
  }
  await enqueue(queue, kinds, wanted);
  return true;
}

const ENDED = ['completed', 'failed', 'unknown'];
