// The status of the commission list for whoever asks again and again. Comparing every sum takes seconds where there are
// hundreds of thousands of commissions, and what it finds changes with a sync: it is compared once after each.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type CommissionListStatus, readCommissionList } from './read-commission-list.ts';

/**
 * Returns a reader that remembers. Only the first answer is waited for: after a sync, the former one is returned until
 * the new one is there.
 */
export function makeReadRememberedList(): (db: Database) => Promise<CommissionListStatus> {
  let known: Promise<CommissionListStatus> | null = null;
  let knownMark: string | null = null;
  let isComparing = false;
  return async (db) => {
    const mark = await readMark(db);
    if (mark !== knownMark && !isComparing) {
      isComparing = true;
      const compared = readCommissionList(db).finally(() => {
        isComparing = false;
      });
      const remember = () => {
        known = compared;
        knownMark = mark;
      };
      // Where it fails, whoever asks next waits for it again, and sees why.
      const forget = () => {
        known = null;
        knownMark = null;
      };
      known ??= compared;
      compared.then(remember, forget);
    }
    return known ?? readCommissionList(db);
  };
}

// A sync ended, or the list came into use. Runs of two resources end in any order: the last number does not show it.
async function readMark(db: Database): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    select concat(is_used, ' ', (select concat(max(finished_at), ' ', count(finished_at)) from sync_runs)) as mark
    from commission_list`.execute(db);
  return rows[0]?.mark ?? '';
}
