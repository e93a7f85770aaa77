// How personal data are kept in the mirror, as its one row says, and who was forgotten.

import { sql } from 'kysely';
import type { PersonalDataMode, PersonalDataSettings } from '../config/personal-data.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { mismatch } from '../mirror/refuse-other-treatment.ts';
import { type Forgotten, type Rule, recordKey } from './rule.ts';
import { fingerprint } from './values.ts';

export interface StoredState {
  readonly mode: PersonalDataMode;
  readonly key_fingerprint: string | null;
  readonly salt: string;
  readonly version: number;
  /** How many records of forgotten people are known. */
  readonly forgotten_records: number;
}

/** Returns the row. */
export async function readState(db: Database): Promise<StoredState> {
  const answer = await sql<StoredState>`
    select mode, key_fingerprint, salt, version, (select count(*) from forgotten_records) as forgotten_records
    from personal_data
  `.execute(db);
  return onlyRow(answer, 'personal_data');
}

/** Returns the fingerprint of the key in use; null in the modes that use none. */
export function fingerprintOf({ mode, key }: PersonalDataSettings): string | null {
  return mode === 'hash' && key !== null ? fingerprint(key) : null;
}

/** Returns whether the settings are those of the mirror. */
export function isSameMode(settings: PersonalDataSettings, state: StoredState): boolean {
  return settings.mode === state.mode && fingerprintOf(settings) === state.key_fingerprint;
}

/** Throws: PersonalDataMismatch where the settings are not those of the mirror. */
export function refuseOtherMode(settings: PersonalDataSettings, state: StoredState): void {
  if (!isSameMode(settings, state)) throw mismatch({ mode: settings.mode, keptMode: state.mode });
}

/** Returns the rule by which the settings treat records, for a mirror whose hashes are of the same key. */
export async function readRule(
  db: Database,
  settings: PersonalDataSettings,
  { salt, version }: Pick<StoredState, 'salt' | 'version'>,
): Promise<Rule> {
  return { ...settings, keepsHashes: true, forgotten: version === 0 ? null : await readForgotten(db, salt) };
}

async function readForgotten(db: Database, salt: string): Promise<Forgotten> {
  const records = await sql<{ table_name: string; record_id: string }>`
    select table_name, record_id from forgotten_records
  `.execute(db);
  const addresses = await sql<{ address_hash: string }>`
    select address_hash from forgotten_addresses
  `.execute(db);
  return {
    salt,
    records: new Set(records.rows.map(({ table_name, record_id }) => recordKey(table_name, record_id))),
    addresses: new Set(addresses.rows.map(({ address_hash }) => address_hash)),
  };
}

/** Notes that the mirror keeps personal data as the settings say. */
export async function saveMode(trx: DatabaseTransaction, settings: PersonalDataSettings): Promise<void> {
  await sql`
    update personal_data
    set mode = ${settings.mode}, key_fingerprint = ${fingerprintOf(settings)}, changed_at = clock_timestamp()
  `.execute(trx);
}
