// Whether a process keeps personal data as the mirror does: one that is set otherwise stores nothing.

import { PersonalDataMismatch } from '../errors.ts';

/**
 * Compares mode and fingerprint of the key, as lock_for_storing() spells them.
 *
 * Throws: PersonalDataMismatch, which says how the mirror keeps personal data, how this process is set, and what to do.
 */
export function refuseOtherMode(own: string, kept: string): void {
  if (own === kept) return;
  const [[mode], [keptMode]] = [own.split(':'), kept.split(':')];
  if (mode === keptMode) {
    throw new PersonalDataMismatch(
      "the key in PII_KEY_FILE is not the one that this mirror's hashes were made with: name that file, or run affiliate-mirror personal-data switch to begin anew with this key",
    );
  }
  throw new PersonalDataMismatch(
    `this mirror keeps personal data as ${keptMode}, and PII is ${mode} here: set PII=${keptMode}, or run affiliate-mirror personal-data switch to have the mirror emptied`,
  );
}
