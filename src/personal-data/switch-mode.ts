// Has the mirror keep personal data as the settings say, and rewrites what it holds to that.
//
// One transaction, under the lock of loads: whoever reads sees all of it or nothing, a failure leaves everything as it
// was, and a process that is set otherwise is refused from then on, since every load compares (see lock_for_storing).

import { sql } from 'kysely';
import type { PersonalDataMode, PersonalDataSettings } from '../config/personal-data.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import { lockForRewriting } from './locks.ts';
import { LEFT_OUT } from './make-personal-data.ts';
import { type RowCounts, rewriteRows } from './rewrite-rows.ts';
import { leaveOutTexts } from './rewrite-texts.ts';
import { isSameMode, readRule, readState, type StoredState, saveMode } from './stored-state.ts';
import { fingerprint } from './values.ts';

export interface Switched {
  readonly from: PersonalDataMode;
  readonly to: PersonalDataMode;
  /** Whether the mode or the key is another than before. */
  readonly isChanged: boolean;
  /** Whether people who were forgotten are known by address with the former key only, which is not set. */
  readonly lacksFormerKey: boolean;
  readonly counts: RowCounts;
}

/**
 * Returns what was rewritten. What is plain becomes hashed or null at once, and what is hashed null. Hashes of another
 * key, and those of a mirror that goes back to plain, become null: the next full sync fills in what the program still
 * has. Idempotent: yes.
 *
 * Throws: the database's errors, such as the one for a role that does not own the tables.
 */
export async function switchMode(db: Database, settings: PersonalDataSettings): Promise<Switched> {
  return transact(db, async (trx) => {
    await lockForRewriting(trx);
    const state = await readState(trx);
    const counts: RowCounts = new Map();
    const { mode } = settings;
    const isChanged = !isSameMode(settings, state);
    if (isChanged) {
      const rule = await readRule(trx, settings, state);
      await rewriteRows(trx, { ...rule, keepsHashes: false }, { counts });
      await saveMode(trx, settings);
    }
    // Also where nothing changed: whoever runs it again wants nothing to be left.
    if (mode !== 'plain') await leaveOutTexts(trx, LEFT_OUT[mode], counts);
    const lacksFormerKey = isOfOtherKey(settings, state) && (await knowsForgottenAddress(trx));
    return { from: state.mode, to: mode, isChanged, lacksFormerKey, counts };
  });
}

/** In mode hash, forgotten addresses are kept as they come out of its key. */
function isOfOtherKey({ key }: PersonalDataSettings, { mode, key_fingerprint }: StoredState): boolean {
  return mode === 'hash' && (key === null || fingerprint(key) !== key_fingerprint);
}

async function knowsForgottenAddress(trx: DatabaseTransaction): Promise<boolean> {
  const { rows } = await sql`select from forgotten_addresses limit 1`.execute(trx);
  return rows.length > 0;
}
