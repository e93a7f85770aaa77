// Notes in the run log that the answer to a page request is late, so that status and page show an outage before it
// fails the run. An answer in time costs no statement.

import type { CallOptions } from '../api/client.ts';
import type { Database } from '../db/database.ts';
import { noteUnanswered, type OwnRun } from '../mirror/runs/sync-runs.ts';

/** Usual answers take less; a retry is noted at once. */
const LATE_MS = 5000;

/** Its first two are options of the request. */
export interface AnswerWatch extends Required<Pick<CallOptions, 'beforeSend' | 'onRequest'>> {
  /** To be called once the page is there, or was given up. */
  end(): Promise<void>;
}

/** Returns the watch over one page request of the run. */
export function watchAnswer(db: Database, run: OwnRun, lateMs = LATE_MS): AnswerWatch {
  let sentMs: number | null = null;
  let attempt = 0;
  let timer: NodeJS.Timeout | undefined;
  let isNoted = false;
  let writing: Promise<void> = Promise.resolve();
  const write = (wait: Parameters<typeof noteUnanswered>[2]) => {
    isNoted = wait !== null;
    // If the database is away, the run fails by its own statements.
    writing = writing.then(() => noteUnanswered(db, run, wait)).catch(() => {});
  };
  const note = () => {
    if (sentMs !== null) write({ forMs: performance.now() - sentMs, attempt });
  };
  const stop = () => {
    clearTimeout(timer);
    sentMs = null;
    attempt = 0;
    if (isNoted) write(null);
  };
  return {
    async beforeSend() {
      attempt += 1;
      sentMs ??= performance.now();
      clearTimeout(timer);
      if (attempt > 1) note();
      else timer = setTimeout(note, lateMs);
      return () => true;
    },
    onRequest({ status }) {
      // Also a 429 is an answer: the wait after it is the budget's.
      if (status !== null && status < 500) stop();
    },
    async end() {
      stop();
      await writing;
    },
  };
}
