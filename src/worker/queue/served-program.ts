// One program of a worker's queue.
//
// Decision: one queue for all programs of a process, not a queue for each. A BullMQ worker holds connections of its own
// (two with Redis), and the priorities of one queue order the jobs of all.

import type { Logger } from '../../base/log.ts';
import type { Database } from '../../db/database.ts';
import type { JobSource } from './job-source.ts';
import type { Probe } from './program-watch.ts';

export interface ServedProgram {
  /** Null: the program that the environment describes. Without a dot. */
  readonly name: string | null;
  /** On the program's schema. */
  readonly db: Database;
  readonly log: Logger;
  readonly probe: Probe;
  /**
   * Asked once a round, over the round's own handle. Throws: SchemaMismatch if another version has migrated the tables
   * since, PersonalDataMismatch if the mirror was switched since.
   */
  readonly checkMirror?: (db: Database) => Promise<void>;
  readonly sources: readonly JobSource[];
}

/** A program that is being served. */
export interface Serving {
  /**
   * Ends with stop(). Throws SchemaMismatch or PersonalDataMismatch if the program is not fit to be served any more:
   * the caller then calls stop().
   */
  readonly ended: Promise<void>;
  /**
   * Adds the missing jobs of the program now, or as soon as its last comparison allows it; any worker that is free
   * takes them. `cause` is the step of a trace for which the jobs of the named sources are made.
   */
  wake(names?: readonly string[], cause?: string | null): void;
  /**
   * Lets the program's running jobs commit, and returns them to the queue. Idempotent: yes.
   *
   * Throws: an Error if that takes longer than the deadline.
   */
  stop(): Promise<void>;
}
