// Deletes a batch of the rows of a table that meet a condition. For tables that are small enough to be read through for
// it: no index on their times is worth what it costs each load.

import { type RawBuilder, sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { PruneBatch } from './batch.ts';

/** Returns the function that deletes such rows, but those that somebody is writing: they are left to the next look. */
export function pruneWhere(table: string, isOverAge: (cutoff: Timestamp) => RawBuilder<unknown>): PruneBatch {
  return async (trx, { cutoff, reached, limit }) => {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${isOverAge(cutoff)} limit ${limit} for update skip locked
      ))`.execute(trx);
    const deleted = Number(numAffectedRows);
    return { deleted, reached, isLast: deleted < limit };
  };
}
