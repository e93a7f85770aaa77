// Whose turn it is in a job of a duty. A duty has one job, which stays between its attempts: if each of them tried the
// same thing, one list that fails would keep all others from being read for hours. So what failed goes behind whatever
// else is due. The attempts and their backoff stay the job's: whatever is due, one failure costs one attempt, and a
// program that is away is asked no more often than for a single thing.

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
}

/** Returns what the job does now, most important first, and what failed in it last; null where nothing is left. */
export async function chooseTurn(
  { wasGivenUp }: TurnDeps,
  job: Job,
  due: readonly Due[],
): Promise<Turn | null> {
  const { failed, hopeless } = failuresOf(job);
  // Those that did not fail have the index -1.
  const inTurn = due.toSorted((a, b) => failed.indexOf(subjectOf(a)) - failed.indexOf(subjectOf(b)));
  for (const one of inTurn) {
    if (hopeless.includes(one.id)) continue;
    // What came due since the job was made cannot have been given up.
    const isNew = one.id === job.id || one.atMs > job.data.atMs;
    if (!isNew && (await wasGivenUp(one.id))) continue;
    return { due: one, others: due.filter((other) => other !== one) };
  }
  return null;
}

/** Notes that it failed: until it is done, what has not failed since goes first. */
export async function noteFailure(job: Job, { due, others }: Turn): Promise<void> {
  const subject = subjectOf(due);
  await keep(job, { failed: [...stillDue(job, others).filter((one) => one !== subject), subject] });
}

/** Notes that no repetition helps: the job leaves it out, and one of its own will end as given up. */
export async function noteHopeless(job: Job, { due, others }: Turn): Promise<void> {
  const hopeless = failuresOf(job).hopeless.filter((id) => others.some((other) => other.id === id));
  await keep(job, { hopeless: [...hopeless, due.id] });
}

/** Notes that it was done. Returns whether the job has to stay, for what failed in it before and is still due. */
export async function noteDone(job: Job, { due, others }: Turn): Promise<boolean> {
  const failed = stillDue(job, others).filter((one) => one !== subjectOf(due));
  if (failed.length === 0) return false;
  await keep(job, { failed });
  return true;
}

function failuresOf(job: Job): Failures {
  return { failed: job.data.failed ?? [], hopeless: job.data.hopeless ?? [] };
}

function stillDue(job: Job, due: readonly Due[]): string[] {
  const subjects = due.map(subjectOf);
  return failuresOf(job).failed.filter((one) => subjects.includes(one));
}

async function keep(job: Job, failures: Partial<Failures>): Promise<void> {
  await job.updateData({ ...job.data, ...failures });
}

function subjectOf({ id, subject }: Due): string {
  return subject ?? id;
}
