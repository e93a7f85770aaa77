// Reads and compares the stamps of changes.

import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../../src/db/database.ts';

/** Returns the stamp of the transaction; null where it has changed nothing. */
export async function stampOf(trx: DatabaseTransaction): Promise<string | null> {
  const { rows } = await sql<{ stamp: string | null }>`select change_stamp() as stamp`.execute(trx);
  return rows[0]?.stamp ?? null;
}

/** Returns the last stamp that was committed. */
export async function lastStamp(db: Database): Promise<string> {
  const { rows } = await sql<{ last: string }>`select last from change_clock`.execute(db);
  return rows[0]?.last ?? '';
}

/** Compares stamps for sorting. They are spelled without trailing zeros. */
export function byTime(a: string, b: string): number {
  if (a === b) return 0;
  return inMicroseconds(a) < inMicroseconds(b) ? -1 : 1;
}

function inMicroseconds(stamp: string): string {
  const [seconds = '', fraction = ''] = stamp.slice(0, -1).split('.');
  return `${seconds}.${fraction.padEnd(6, '0')}`;
}
