// What workers are there for, as questions: a duty says what is due, and how that is done. Nothing is written down for
// it: what is due follows from tables that exist anyway, so a queue that forgets everything has lost nothing.
//
// A job only carries the moment since which something is due. Its worker asks again what that is before it begins: a
// job that comes twice, late, or after somebody else did the work does no harm. A job that failed does what else is due
// before it tries the same thing again (turns.ts).

import type { Schedule } from './schedules.ts';
import type { Moment } from './worker-state.ts';

export interface JobContext {
  /** Aborted when the worker stops, when the queue is paused, and when another worker may have the job. */
  readonly signal: AbortSignal;
  /** Kept on the job, at most once a second. */
  readonly onProgress: (progress: object) => void;
  /** How long ago the job was made. */
  readonly waitedMs: number;
}

export type JobOutcome =
  | { readonly kind: 'done' }
  /** Not to be done now: another process is doing it, or the program does not answer. Costs no attempt. */
  | { readonly kind: 'later'; readonly waitMs: number };

export interface Due {
  /**
   * Of the job, the same whoever asks: one that failed for good is kept, and keeps what is due under this identifier
   * from being tried again. Letters, digits and hyphens.
   */
  readonly id: string;
  /**
   * What it is about, where a duty has several: what one fails at keeps no other from its turn. Left out: the `id`.
   */
  readonly subject?: string;
  /** Since when it is due. */
  readonly atMs: number;
  /** Once it was done, findDue must no longer name it. */
  readonly run: (context: JobContext) => Promise<JobOutcome>;
}

export interface Duty {
  /** Of its jobs, of which one at a time waits or runs. */
  readonly name: string;
  /** When workers look at once; between them, they do every few seconds. */
  readonly alarms: readonly Schedule[];
  /** Returns what is due, most important first. */
  findDue(moment: Moment): Promise<readonly Due[]>;
}

const MINUTE_MS = 60_000;

/** Returns an identifier of what is due: where it is given up, it is tried again in the next minute. */
export function minutely(name: string, nowMs: number): string {
  return `${name}-${Math.floor(nowMs / MINUTE_MS)}`;
}
