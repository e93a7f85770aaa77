// Whether what was read may be stored, given how personal data are kept in the mirror: a process that is set otherwise
// writes nothing, and so does one that read before somebody was forgotten.

import { PersonalDataMismatch, PersonalDataStale } from '../errors.ts';

/** Throws: PersonalDataMismatch, PersonalDataStale. Both are spelled as PersonalData does. */
export function refuseOtherTreatment(treated: string, kept: string): void {
  if (treated === kept) return;
  const [mode = '', key = ''] = treated.split(':');
  const [keptMode = '', keptKey = ''] = kept.split(':');
  if (mode !== keptMode || key !== keptKey) throw mismatch({ mode, keptMode });
  throw new PersonalDataStale(
    'somebody was forgotten after these records were read, so they were not stored: the next sync goes on and reads them anew',
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
