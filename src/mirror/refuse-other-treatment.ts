// Whether what was read may be stored, given how personal data are kept in the mirror: a process that is set otherwise
// writes nothing, and so does one that read before somebody was forgotten, or before another process recognised a
// record of somebody who was.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { PersonalDataMismatch, PersonalDataStale } from '../errors.ts';
import { type PersonalData, UNTREATED } from '../records/personal-data.ts';

/** What is compared of a treatment; null of what nobody treated. */
type Treatment = Pick<PersonalData, 'stamp' | 'recognised'> | null;

/** To be called under the lock of loads, which returned `kept`. Throws: PersonalDataMismatch, PersonalDataStale. */
export async function refuseOtherTreatment(
  trx: DatabaseTransaction,
  treatment: Treatment,
  kept: string,
): Promise<void> {
  const treated = treatment?.stamp ?? UNTREATED;
  if (treated === kept) return;
  const [mode = '', key = '', version = '', records = ''] = treated.split(':');
  const [keptMode = '', keptKey = '', keptVersion = '', keptRecords = ''] = kept.split(':');
  if (mode !== keptMode || key !== keptKey) throw mismatch({ mode, keptMode });
  if (version !== keptVersion) throw stale('somebody was forgotten');
  const own = await countNoted(trx, treatment?.recognised ?? []);
  if (Number(records) + own !== Number(keptRecords)) {
    throw stale('another process recognised a record of somebody who was forgotten');
  }
}

/** How many of the records are noted as those of forgotten people by now. */
async function countNoted(trx: DatabaseTransaction, recognised: PersonalData['recognised']): Promise<number> {
  const answer = await sql<{ noted: number }>`
    select count_forgotten(
      ${recognised.map(({ table }) => table)}::text[], ${recognised.map(({ id }) => id)}::text[]
    ) as noted`.execute(trx);
  return onlyRow(answer, 'count_forgotten').noted;
}

function stale(what: string): PersonalDataStale {
  return new PersonalDataStale(
    `${what} after these records were read, so they were not stored: the next sync goes on and reads them anew`,
  );
}

/** Returns the error that says how the mirror keeps personal data, how this process is set, and what to do. */
export function mismatch({ mode, keptMode }: { mode: string; keptMode: string }): PersonalDataMismatch {
  if (mode === keptMode) {
    return new PersonalDataMismatch(
      "the key in PII_KEY_FILE is not the one that this mirror's hashes were made with: name that file, or run affiliate-mirror personal-data switch to begin anew with this key",
    );
  }
  return new PersonalDataMismatch(
    `this mirror keeps personal data as ${keptMode}, and PII is ${mode} here: set PII=${keptMode}, or run affiliate-mirror personal-data switch to have the mirror rewritten`,
  );
}
