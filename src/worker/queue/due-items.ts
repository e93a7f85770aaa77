// Reads from the database which items of each source are due. A job asks before it begins, and jobs that begin together
// share one answer: with a question for each, jobs without work ended at half of BullMQ's own rate.

import type { Database } from '../../db/database.ts';
import { subjectOf } from './add-due.ts';
import type { Item, JobSource } from './job-source.ts';
import { readMoment, type WorkerMoment } from './worker-state.ts';

/** An answer is shared for this long. */
const SHARED_MS = 1000;

export interface DueItems {
  /** Returns the items of the subject that were due at `sinceMs` or later, most important first. */
  find(source: JobSource, subject: string, sinceMs: number): Promise<readonly Item[]>;
  /** Makes the next `find` ask the database. */
  forget(): void;
}

interface Asked {
  readonly atMs: number;
  readonly answer: Promise<ReadonlyMap<string, readonly Item[]>>;
}

/** Returns the answers, none at first. */
export function makeDueItems(db: Database): DueItems {
  const asked = new Map<JobSource, Asked>();
  return {
    async find(source, subject, sinceMs) {
      const last = asked.get(source);
      const nowMs = Date.now();
      // A job that was made after the question may be about an item that came due, or was done, since then.
      if (last !== undefined && last.atMs > sinceMs && nowMs - last.atMs < SHARED_MS) {
        return (await last.answer).get(subject) ?? [];
      }
      const answer = readMoment(db).then(async (moment) =>
        Map.groupBy(await listDue(source, moment), subjectOf),
      );
      asked.set(source, { atMs: nowMs, answer });
      // The next job asks again. This one meets the failure itself.
      answer.catch(() => asked.delete(source));
      return (await answer).get(subject) ?? [];
    },
    forget: () => asked.clear(),
  };
}

/** Returns the due items of the source; none while it needs an API that is away. */
export async function listDue(source: JobSource, moment: WorkerMoment): Promise<readonly Item[]> {
  return source.needsProgram && moment.isProgramAway ? [] : await source.findDue(moment);
}
