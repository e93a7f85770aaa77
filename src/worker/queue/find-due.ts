// A round of a program: everything that is due, from all of its sources, asked in one transaction.

import { DatabaseUnreachable, PersonalDataMismatch, SchemaMismatch } from '../../base/errors.ts';
import { asDatabaseError } from '../../db/database-errors.ts';
import { listDue } from './due-items.ts';
import type { Item, JobSource } from './job-source.ts';
import type { ServedProgram } from './served-program.ts';
import { atOneMoment, readMoment, type WorkerMoment } from './worker-state.ts';

/** Why a program is served no more: a newer version has migrated its tables, or its mirror was switched. */
const UNFIT = [SchemaMismatch, PersonalDataMismatch];

export function isUnfit(error: unknown): boolean {
  return UNFIT.some((kind) => error instanceof kind);
}

export interface Found {
  readonly isProgramAway: boolean;
  readonly due: readonly { readonly source: JobSource; readonly items: readonly Item[] }[];
  /** Of the sources that could not say what is due. */
  readonly failures: readonly unknown[];
}

export interface FindInput {
  /** Whether the mirror is checked as well. */
  readonly isRound: boolean;
}

/**
 * Returns what is due. If a source fails, each is asked by itself, so that one holds up no other.
 *
 * Throws: SchemaMismatch, PersonalDataMismatch; the database's errors if no source can be asked.
 */
export async function findDue(program: ServedProgram, { isRound }: FindInput): Promise<Found> {
  const { db, sources, checkMirror } = program;
  const check = async (moment: WorkerMoment) => {
    if (isRound) await checkMirror?.(moment.db);
  };
  try {
    return await atOneMoment(db, async (moment) => {
      await check(moment);
      const due = [];
      for (const source of sources) due.push({ source, items: await listDue(source, moment) });
      return { isProgramAway: moment.isProgramAway, due, failures: [] };
    });
  } catch (error) {
    if (isUnfit(error) || asDatabaseError(error) instanceof DatabaseUnreachable) throw error;
  }
  const moment = await readMoment(db);
  await check(moment);
  const due: { source: JobSource; items: readonly Item[] }[] = [];
  const failures: unknown[] = [];
  for (const source of sources) {
    await listDue(source, moment).then(
      (items) => due.push({ source, items }),
      (error: unknown) => failures.push(error),
    );
  }
  return { isProgramAway: moment.isProgramAway, due, failures };
}
