// Has a mirror that is new keep personal data as the settings say, without a command for it.

import { sql } from 'kysely';
import type { PersonalDataSettings } from '../config/personal-data.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { transact } from '../db/transact.ts';
import { lockForLoading } from '../mirror/load-batch.ts';
import { LOAD_ORDER } from '../records/mirrored-tables.ts';
import { isSameMode, readState, saveMode } from './stored-state.ts';

/** Where records of the program are. */
const FILLED = [...LOAD_ORDER, 'record_history', 'rejected_records'];

/**
 * Makes a mirror that has never stored a record keep personal data as the settings say; leaves any other as it is.
 * Idempotent: yes.
 */
export async function adoptMode(db: Database, settings: PersonalDataSettings): Promise<void> {
  if (isSameMode(settings, await readState(db))) return;
  await transact(db, async (trx) => {
    await lockForLoading(trx, { isAlone: true, runId: null });
    if (await isEmpty(trx)) await saveMode(trx, settings);
  });
}

async function isEmpty(trx: DatabaseTransaction): Promise<boolean> {
  const looks = FILLED.map((table) => sql`exists (select from ${sql.table(table)})`);
  const answer = await sql<{ filled: boolean }>`select ${sql.join(looks, sql` or `)} as filled`.execute(trx);
  return !onlyRow(answer, 'what is filled').filled;
}
