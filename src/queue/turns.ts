// Whose turn it is in a job of a duty. A duty has one job, which stays between its attempts: if each of them tried the
// same thing, one list that fails would keep all others from being read for hours. So what failed goes behind whatever
// else is due, and a job that waits for its next attempt is woken for that. The attempts and their backoff stay the
// job's: whatever is due, one failure costs one attempt. A program that is away is asked for each thing once, and from
// then on no more often than for a single one.

import type { Job } from 'bullmq';
import type { Due } from './duty.ts';

export interface TurnDeps {
  /** Whether the job of this identifier was given up. */
  readonly wasGivenUp: (id: string) => Promise<boolean>;
}

export interface Turn {
  readonly due: Due;
  /** What else is due. */
  readonly others: readonly Due[];
}

/** What failed in the job, kept with it: another worker may have its next attempt. */
interface Failures {
  /** Subjects; the one that failed last is the last. */
  readonly failed: readonly string[];
  /** Identifiers of what no repetition helps. */
  readonly hopeless: readonly string[];
  /** The subject that the job waits for: another process is doing it, or the program asks for a pause. */
  readonly awaited: string | null;
}

/** What is due, as far as its turn depends on it. */
export type Named = Pick<Due, 'id' | 'subject' | 'atMs'>;

/** What becomes of a job when one thing is done: it ends, or goes on with what did not fail yet, or with what did. */
export type AfterDone = 'ends' | 'goes on' | 'rests';

/** Returns what the job does now, most important first, and what failed in it last; null where nothing is left. */
export async function chooseTurn(deps: TurnDeps, job: Job, due: readonly Due[]): Promise<Turn | null> {
  const first = await findFirst(deps, job, due);
  return first === null ? null : { due: first, others: due.filter((other) => other !== first) };
}

/**
 * Returns whether a job that waits has something to do at once, and so is to be woken: after a failure, what did not
 * fail. What has no subject is the same thing under another identifier, and is waited for.
 */
export async function hasOtherTurn(deps: TurnDeps, job: Job, due: readonly Named[]): Promise<boolean> {
  const { failed, awaited } = failuresOf(job);
  if (failed.length === 0) return false;
  const subject = (await findFirst(deps, job, due))?.subject;
  return subject !== undefined && subject !== awaited && !failed.includes(subject);
}

async function findFirst<D extends Named>(
  { wasGivenUp }: TurnDeps,
  job: Job,
  due: readonly D[],
): Promise<D | null> {
  const { failed, hopeless } = failuresOf(job);
  // Those that did not fail have the index -1.
  const inTurn = due.toSorted((a, b) => failed.indexOf(subjectOf(a)) - failed.indexOf(subjectOf(b)));
  for (const one of inTurn) {
    if (hopeless.includes(one.id)) continue;
    // What came due since the job was made cannot have been given up.
    const isNew = one.id === job.id || one.atMs > job.data.atMs;
    if (!isNew && (await wasGivenUp(one.id))) continue;
    return one;
  }
  return null;
}

/** Notes that it failed: until it is done, what has not failed since goes first. */
export async function noteFailure(job: Job, { due, others }: Turn): Promise<void> {
  const subject = subjectOf(due);
  const before = stillDue(job, others).filter((one) => one !== subject);
  await keep(job, { failed: [...before, subject], awaited: null });
}

/** Notes that the job waits for it, and is not to be woken for it. */
export async function noteAwaited(job: Job, { due }: Turn): Promise<void> {
  // A job in which nothing failed is woken for nothing.
  if (failuresOf(job).failed.length > 0) await keep(job, { awaited: subjectOf(due) });
}

/** Notes that no repetition helps: the job leaves it out, and one of its own will end as given up. */
export async function noteHopeless(job: Job, { due, others }: Turn): Promise<void> {
  const hopeless = failuresOf(job).hopeless.filter((id) => others.some((other) => other.id === id));
  await keep(job, { hopeless: [...hopeless, due.id] });
}

/** Notes that it was done. Returns what becomes of the job: it stays for what failed in it before and is still due. */
export async function noteDone(job: Job, { due, others }: Turn): Promise<AfterDone> {
  const failed = stillDue(job, others).filter((one) => one !== subjectOf(due));
  if (failed.length === 0) return 'ends';
  await keep(job, { failed, awaited: null });
  const { hopeless } = failuresOf(job);
  const isLeft = others.some((one) => !failed.includes(subjectOf(one)) && !hopeless.includes(one.id));
  return isLeft ? 'goes on' : 'rests';
}

function failuresOf(job: Job): Failures {
  const { failed = [], hopeless = [], awaited = null } = job.data;
  return { failed, hopeless, awaited };
}

function stillDue(job: Job, due: readonly Due[]): string[] {
  const subjects = due.map(subjectOf);
  return failuresOf(job).failed.filter((one) => subjects.includes(one));
}

async function keep(job: Job, failures: Partial<Failures>): Promise<void> {
  await job.updateData({ ...job.data, ...failures });
}

function subjectOf({ id, subject }: Named): string {
  return subject ?? id;
}
