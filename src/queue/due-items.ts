// What is due of each source, as the database says. A job asks before it begins, and jobs that begin together share one
// answer: with a question for each, jobs that do nothing ended at half of BullMQ's own rate.

import type { Database } from '../db/database.ts';
import { subjectOf } from './add-due.ts';
import type { Item, JobSource } from './job-source.ts';
import { readMoment, type WorkerMoment } from './worker-state.ts';

/** An answer is shared for this long. */
const SHARED_MS = 1000;

export interface DueItems {
  /** Returns what is due now. */
  list(source: JobSource, moment: WorkerMoment): Promise<readonly Item[]>;
  /** Returns what is due of the subject at that moment or after it, most important first. */
  find(source: JobSource, subject: string, sinceMs: number): Promise<readonly Item[]>;
  /** Has the next `find` ask. */
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
    list: findDue,
    async find(source, subject, sinceMs) {
      const last = asked.get(source);
      const nowMs = Date.now();
      // A job that was made after the question may be about what came due, or was done, since then.
      if (last !== undefined && last.atMs > sinceMs && nowMs - last.atMs < SHARED_MS) {
        return (await last.answer).get(subject) ?? [];
      }
      const answer = readMoment(db).then(async (moment) =>
        Map.groupBy(await findDue(source, moment), subjectOf),
      );
      asked.set(source, { atMs: nowMs, answer });
      // The next job asks again. This one meets the failure itself.
      answer.catch(() => asked.delete(source));
      return (await answer).get(subject) ?? [];
    },
    forget: () => asked.clear(),
  };
}

async function findDue(source: JobSource, moment: WorkerMoment): Promise<readonly Item[]> {
  return source.needsProgram && moment.isProgramAway ? [] : await source.findDue(moment);
}
