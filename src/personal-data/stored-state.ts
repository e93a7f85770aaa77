// How personal data are kept in the mirror, as its one row says, and whether this process is set so.

import { sql } from 'kysely';
import type { PersonalDataMode, PersonalDataSettings } from '../config/personal-data.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { refuseOtherMode } from '../mirror/refuse-other-mode.ts';
import { fingerprint } from './values.ts';

export interface StoredState {
  readonly mode: PersonalDataMode;
  /** Null in the modes that use no key. */
  readonly key_fingerprint: string | null;
  readonly salt: string;
}

/** Returns the row. */
export async function readState(db: Database): Promise<StoredState> {
  const answer = await sql<StoredState>`select mode, key_fingerprint, salt from personal_data`.execute(db);
  return onlyRow(answer, 'personal_data');
}

function fingerprintOf({ mode, key }: PersonalDataSettings): string | null {
  return mode === 'hash' && key !== null ? fingerprint(key) : null;
}

/** Returns mode and fingerprint of the key, as lock_for_storing() spells them. */
export function keptAs(settings: PersonalDataSettings): string {
  return spell(settings.mode, fingerprintOf(settings));
}

function spell(mode: PersonalDataMode, keyFingerprint: string | null): string {
  return `${mode}:${keyFingerprint ?? '-'}`;
}

/** Returns whether the settings are those of the mirror. */
export function isSameMode(settings: PersonalDataSettings, state: StoredState): boolean {
  return keptAs(settings) === spell(state.mode, state.key_fingerprint);
}

/** Throws: PersonalDataMismatch where the settings are not those of the mirror. */
export function refuseOtherSettings(settings: PersonalDataSettings, state: StoredState): void {
  refuseOtherMode(keptAs(settings), spell(state.mode, state.key_fingerprint));
}

/** Notes that the mirror keeps personal data as the settings say. */
export async function saveMode(trx: DatabaseTransaction, settings: PersonalDataSettings): Promise<void> {
  await sql`
    update personal_data
    set mode = ${settings.mode}, key_fingerprint = ${fingerprintOf(settings)}, changed_at = clock_timestamp()
  `.execute(trx);
}
