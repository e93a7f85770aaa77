// Stores a text that may quote the program, by the rule of that moment: since the answer the mirror may have been
// switched, or somebody forgotten.

import type { Database, DatabaseTransaction } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import { lockForLoading } from '../mirror/load-batch.ts';
import type { PersonalDataSource } from './personal-data-source.ts';

/**
 * Returns what `store` returns, which is passed the text as it may be stored; nobody is forgotten, and nothing is
 * switched, until its transaction ends.
 *
 * Throws: PersonalDataMismatch, and nothing is stored; the database's errors.
 */
export async function storeText<T>(
  { db, personalData }: { db: Database; personalData?: PersonalDataSource | undefined },
  text: string,
  store: (trx: DatabaseTransaction, text: string) => Promise<T>,
): Promise<T> {
  return transact(db, async (trx) => {
    await personalData?.keepUp(trx, await lockForLoading(trx, { isAlone: false, runId: null }));
    return store(trx, personalData?.withoutForgotten(text) ?? text);
  });
}
