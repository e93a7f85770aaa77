// Job sources decide the work of a worker: a source says which items are due, and how an item is done. Due items follow
// from tables that exist anyway, so a queue that loses everything has lost nothing.
//
// Each due item has a job of its own, with its own attempts and backoff. The job carries no work: before it begins, its
// worker asks again which items of the subject are due. So a job that comes twice, late, or after another process did
// the work does no harm, and a list that fails for hours is asked ever less often, also from tick to tick.

import type { Database } from '../../db/database.ts';
import type { Schedule } from './schedules.ts';
import type { Moment } from './worker-state.ts';

export interface JobContext {
  /** Aborted when the worker stops, and when another worker may have the job. */
  readonly signal: AbortSignal;
  /** How long ago the job was made. */
  readonly waitedMs: number;
}

export type JobOutcome =
  | { readonly kind: 'done' }
  /** Not now: another process does it, or the API does not answer. Costs no attempt. */
  | { readonly kind: 'later'; readonly waitMs: number };

/** The order in which waiting jobs begin, the lowest number first. */
export const PRIORITY = { payments: 1, polls: 5, deltas: 10, fullSyncs: 20, upkeep: 30 } as const;

export interface Item {
  /**
   * The job's identifier, the same in every worker. A job that failed for good stays, so that the item is not tried
   * again. Letters, digits and hyphens.
   */
  readonly id: string;
  /** At a time, one job of a subject waits or runs. Left out: the `id`. */
  readonly subject?: string;
  readonly priority: number;
  /** False while another item has to be tried first: then it gets no job yet. Left out: true. */
  readonly mayBegin?: boolean;
  /** Once it was done, findDue must no longer name it. */
  readonly run: (context: JobContext) => Promise<JobOutcome>;
}

export interface JobSource {
  /** The name of its jobs. */
  readonly name: string;
  /** Whether its jobs call the API: none is due while that refuses the secret or is away. */
  readonly needsProgram: boolean;
  /** When something may come due by the clock. */
  readonly schedules: readonly Schedule[];
  /**
   * Returns the due items; those of one subject in the order of their importance. Asks over the moment's handle, and
   * changes nothing.
   */
  findDue(moment: Moment): Promise<readonly Item[]>;
}

export const MINUTE_MS = 60_000;

export interface SingleInput
  extends Pick<JobSource, 'name' | 'needsProgram'>,
    Pick<Item, 'priority' | 'run'> {
  /** An item whose job was given up is tried again in the next such period. */
  readonly againAfterMs: number;
  readonly isDue: (db: Database) => Promise<boolean>;
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
    async findDue({ db, nowMs }) {
      if (!(await isDue(db))) return [];
      return [{ id: `${name}-${Math.floor(nowMs / againAfterMs)}`, subject: name, ...item }];
    },
  };
}
