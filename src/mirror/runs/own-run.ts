// Whose a run is: only the process of its last attempt writes to it, and only until it has ended. A process that was
// stopped meanwhile wakes up with an attempt that is no longer the last.

import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../../db/database.ts';
import { Busy } from '../../errors.ts';

/** A run as one process works on it. */
export interface OwnRun {
  readonly id: number;
  readonly attempt: number;
}

/** Returns the condition on a row of sync_runs that it is that run, and still this process's. */
export function isStillOwn({ id, attempt }: OwnRun): RawBuilder<boolean> {
  return sql<boolean>`(id = ${id} and attempt = ${attempt} and state = 'running')`;
}

/** Returns the error of a process that has lost its run. */
export function takenOver({ id }: OwnRun): Busy {
  return new Busy(`run ${id} has ended, or was taken over by another process: this one stops`);
}

/**
 * Keeps the run from ending, and other processes from taking it over, until the transaction ends. For what is written
 * beside the run's own row.
 *
 * Throws: Busy where the run has ended already, or another process has taken it over.
 */
export async function holdRun(trx: DatabaseTransaction, run: OwnRun): Promise<void> {
  const held = await trx
    .selectFrom('sync_runs')
    .select('id')
    .where(isStillOwn(run))
    .forUpdate()
    .executeTakeFirst();
  if (held === undefined) throw takenOver(run);
}
