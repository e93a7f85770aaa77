// The status of the commission list for whoever asks again and again. Comparing every sum takes seconds where there are
// hundreds of thousands of commissions, and what it finds changes with a sync: a process compares once after each.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { type CommissionListStatus, readCommissionList } from './read-commission-list.ts';

interface Remembered {
  known: Promise<CommissionListStatus> | null;
  /** Of the sync after which it was compared. */
  mark: string | null;
  isComparing: boolean;
}

const remembered = new WeakMap<Database, Remembered>();

/**
 * Returns the status, as it was after the last sync. Only the first answer is waited for: after a sync, the former one
 * is returned until the new one is there.
 *
 * Throws: the database's errors.
 */
export async function readRememberedList(db: Database): Promise<CommissionListStatus> {
  const mark = await readMark(db);
  const state = remembered.get(db) ?? { known: null, mark: null, isComparing: false };
  remembered.set(db, state);
  if (mark !== state.mark && !state.isComparing) {
    state.isComparing = true;
    const compared = readCommissionList(db).finally(() => {
      state.isComparing = false;
    });
    const remember = () => {
      state.known = compared;
      state.mark = mark;
    };
    // Where it fails, whoever asks next waits for it again, and sees why.
    const forget = () => {
      state.known = null;
      state.mark = null;
    };
    state.known ??= compared;
    compared.then(remember, forget);
  }
  return state.known ?? readCommissionList(db);
}

// A sync ended, or the list came into use. Runs of two resources end in any order: the last number does not show it.
async function readMark(db: Database): Promise<string> {
  const answer = await sql<{ mark: string }>`
    select concat(is_used, ' ', (select concat(max(finished_at), ' ', count(finished_at)) from sync_runs)) as mark
    from commission_list`.execute(db);
  return onlyRow(answer, 'commission_list').mark;
}
