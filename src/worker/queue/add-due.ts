// Makes sure that what is due has a job in the queue. Needs no lock: several workers may do so at once, and the queue
// takes each identifier once.

import type { WorkQueue } from './backend.ts';
import type { Item } from './job-source.ts';
import { toQueued } from './queued-name.ts';
import type { Timings } from './timings.ts';

/** The largest that a job may be: it carries the step of a trace, or nothing. */
const LARGEST_JOB_BYTES = 16_384;
/**
 * A job that ended well is removed: the run log and the payment ledger hold its result, and its identifier may be due
 * again. A job that was given up stays for a week (`age`, in seconds) and is not tried again meanwhile. No `count`: on
 * Postgres each job that ends would then search for those beyond it, and two that end at once can deadlock (measured).
 */
const REMOVAL = { removeOnComplete: true, removeOnFail: { age: 604_800 } };
/** Every worker brings the strategy of this name. */
const BACKOFF = 'full-jitter';

export interface AddInput extends Pick<Timings, 'mostAttempts'> {
  /** Null: the program that the environment describes. */
  readonly program: string | null;
  /** The name of the source. */
  readonly name: string;
  /** The step of a trace that the jobs are made for; null if there is none. */
  readonly cause: string | null;
}

/** Adds a job for each subject that is due and has none. Returns the identifiers of the jobs that it added. */
export async function addDue(queue: WorkQueue, items: readonly Item[], input: AddInput): Promise<string[]> {
  const added: string[] = [];
  for (const ofSubject of Map.groupBy(items, subjectOf).values()) {
    const item = await findMissing(queue, ofSubject, input.program);
    if (item !== null && item.mayBegin !== false && (await add(queue, item, input))) added.push(item.id);
  }
  return added;
}

/** Returns whether the job of this identifier, as the queue has it, was given up. */
export async function wasGivenUp(queue: WorkQueue, id: string): Promise<boolean> {
  return (await (await queue.getJob(id))?.isFailed()) === true;
}

/** Returns what the item is about. */
export function subjectOf({ id, subject }: Pick<Item, 'id' | 'subject'>): string {
  return subject ?? id;
}

/** Returns the first item of a subject that was not given up; null if that has a job. */
async function findMissing(
  queue: WorkQueue,
  items: readonly Item[],
  program: string | null,
): Promise<Item | null> {
  for (const item of items) {
    const job = await queue.getJob(toQueued(program, item.id));
    if (job === undefined) return item;
    if (!(await job.isFailed())) return null;
  }
  return null;
}

/** Returns whether it was added: another item of the subject may have a job. */
async function add(
  queue: WorkQueue,
  item: Item,
  { program, name, mostAttempts, cause }: AddInput,
): Promise<boolean> {
  const id = toQueued(program, item.id);
  const job = await queue.add(toQueued(program, name), cause === null ? {} : { cause }, {
    jobId: id,
    priority: item.priority,
    attempts: mostAttempts,
    backoff: { type: BACKOFF },
    deduplication: { id: toQueued(program, subjectOf(item)) },
    sizeLimit: LARGEST_JOB_BYTES,
    ...REMOVAL,
  });
  return job.id === id;
}
