// What workers are there for, as questions: a source says what is due, and how that is done. Nothing is written down
// for it: what is due follows from tables that exist anyway, so a queue that forgets everything has lost nothing.
//
// Each item that is due has a job of its own, with its own attempts and backoff. The job carries no work: its worker
// asks again what is due of the item's subject before it begins. So a job that comes twice, late, or after another
// process did the work does no harm, and a list that fails for hours is asked ever less often, also from tick to
// tick.

import type { Schedule } from './schedules.ts';
import type { Moment } from './worker-state.ts';

export interface JobContext {
  /** Aborted when the worker stops, and when another worker may have the job. */
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

/** In which order waiting jobs begin, the lowest number first. */
export const PRIORITY = { payments: 1, polls: 5, deltas: 10, fullSyncs: 20, upkeep: 30 } as const;

export interface Item {
  /**
   * Of the job, the same whoever asks: one that failed for good is kept, and keeps the item of this identifier from
   * being tried again. Letters, digits and hyphens.
   */
  readonly id: string;
  /** What it is about: of several items of one subject, one job at a time waits or runs. Left out: the `id`. */
  readonly subject?: string;
  readonly priority: number;
  /** False where another item has to be tried first: it gets no job yet. Left out: true. */
  readonly mayBegin?: boolean;
  /** Once it was done, findDue must no longer name it. */
  readonly run: (context: JobContext) => Promise<JobOutcome>;
}

export interface JobSource {
  /** Of its jobs. */
  readonly name: string;
  /** Whether it asks the program: while that refuses the secret or is away, nothing of it is due. */
  readonly needsProgram: boolean;
  /** When something may come due by the clock. */
  readonly schedules: readonly Schedule[];
  /** Returns what is due; of one subject, most important first. */
  findDue(moment: Moment): Promise<readonly Item[]>;
}

export const MINUTE_MS = 60_000;

export interface SingleInput
  extends Pick<JobSource, 'name' | 'needsProgram'>,
    Pick<Item, 'priority' | 'run'> {
  /** Where its job was given up, it is tried again in the next such period. */
  readonly againAfterMs: number;
  readonly isDue: () => Promise<boolean>;
}

/** Returns a source of a single item. */
export function makeSingleSource({
  name,
  needsProgram,
  againAfterMs,
  isDue,
  ...item
}: SingleInput): JobSource {
  return {
    name,
    needsProgram,
    schedules: [],
    async findDue({ nowMs }) {
      if (!(await isDue())) return [];
      return [{ id: `${name}-${Math.floor(nowMs / againAfterMs)}`, subject: name, ...item }];
    },
  };
}
