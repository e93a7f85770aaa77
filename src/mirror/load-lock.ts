// The lock of loads: one for each schema, held until the transaction ends.

import { sql } from 'kysely';
import { PersonalDataMismatch } from '../base/errors.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import type { Treatment } from '../decode/treatment.ts';

/**
 * Waits for the lock, and names the run for the history that the transaction writes. A caller that stores records
 * names their `treatment`; no switch to another mode happens while it holds the lock.
 *
 * Nothing else is loaded or marked deleted in this schema meanwhile, so plain inserts are safe and no two loads can
 * deadlock. Loads that change something would wait for each other's stamp all the same (functions/history.sql). A
 * stopped process loses the lock after seconds. It is an advisory lock, since locks on the tables would also stop
 * autovacuum. A row that a user inserts by hand at the same time makes the load fail on its key; the next try finds it.
 *
 * Throws: PersonalDataMismatch if the mirror keeps personal data in another mode.
 */
export async function lockForLoading(
  trx: DatabaseTransaction,
  { runId, treatment }: { runId: number | null; treatment?: Treatment },
): Promise<void> {
  const answer = await sql<{ stored_as: string }>`
    select set_config('affiliate_mirror.run_id', ${runId === null ? '' : String(runId)}, true),
      lock_for_loading() as stored_as
  `.execute(trx);
  const { stored_as } = onlyRow(answer, 'lock_for_loading');
  if (treatment !== undefined) refuseOtherMode(treatment.storedAs, stored_as);
}

/**
 * Compares mode and fingerprint of the key, as lock_for_loading() spells them.
 *
 * Throws: PersonalDataMismatch, which says how the mirror keeps personal data, how this process is set, and what to do.
 */
export function refuseOtherMode(own: string, stored: string): void {
  if (own === stored) return;
  const [[mode], [storedMode]] = [own.split(':'), stored.split(':')];
  if (mode === storedMode) {
    throw new PersonalDataMismatch(
      "the key in PII_KEY_FILE is not the one that this mirror's hashes were made with: name that file, or run affiliate-mirror personal-data switch to begin anew with this key",
    );
  }
  throw new PersonalDataMismatch(
    `this mirror keeps personal data as ${storedMode}, and PII is ${mode} here: set PII=${storedMode}, or run affiliate-mirror personal-data switch to have the mirror emptied`,
  );
}
