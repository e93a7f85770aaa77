// How the mirror keeps personal data (the one row of personal_data), and whether this process has the same settings.

import { sql } from 'kysely';
import type { PersonalDataMode, PersonalDataSettings } from '../../config/program/personal-data.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import { refuseOtherMode } from '../load-lock.ts';
import { fingerprint } from './values.ts';

export interface StoredState {
  readonly mode: PersonalDataMode;
  /** Mode and fingerprint of the key, as lock_for_loading() spells them. */
  readonly storedAs: string;
  readonly salt: string;
}

export async function readState(db: Database): Promise<StoredState> {
  const answer = await sql<StoredState>`
    select mode, concat_ws(':', mode, coalesce(key_fingerprint, '-')) as "storedAs", salt from personal_data`.execute(
    db,
  );
  return onlyRow(answer, 'personal_data');
}

function fingerprintOf({ mode, key }: PersonalDataSettings): string | null {
  return mode === 'hash' && key !== null ? fingerprint(key) : null;
}

/** Returns mode and fingerprint of the key, as lock_for_loading() spells them. */
export function storedAs(settings: PersonalDataSettings): string {
  return `${settings.mode}:${fingerprintOf(settings) ?? '-'}`;
}

/** Throws: PersonalDataMismatch if the settings are not those of the mirror. */
export function refuseOtherSettings(settings: PersonalDataSettings, state: StoredState): void {
  refuseOtherMode(storedAs(settings), state.storedAs);
}

export async function saveMode(trx: DatabaseTransaction, settings: PersonalDataSettings): Promise<void> {
  await sql`
    update personal_data
    set mode = ${settings.mode}, key_fingerprint = ${fingerprintOf(settings)}, changed_at = clock_timestamp()
  `.execute(trx);
}
