// Hands out the treatment of what is read, up to date with who was forgotten, for as long as the mirror keeps personal
// data as this process does.

import type { PersonalDataSettings } from '../config/personal-data.ts';
import type { Database } from '../db/database.ts';
import { type PersonalData, UNTREATED } from '../records/personal-data.ts';
import { LEFT_OUT, makePersonalData } from './make-personal-data.ts';
import { mentionsForgotten, type Rule } from './rule.ts';
import { fingerprintOf, readRule, readState, refuseOtherMode, type StoredState } from './stored-state.ts';

export interface PersonalDataSource {
  /** Whether an error or a reason may quote what the program sent. */
  readonly mayQuote: boolean;
  /** Returns whether a text names somebody who was forgotten, as far as is known by now. */
  readonly namesForgotten: (text: string) => boolean;
  /** Returns the text of an error as it may be stored, as far as is known by now. */
  readonly withoutForgotten: (text: string) => string;
  /** Returns what is known by now, as PersonalData spells it: another one once more is known of who was forgotten. */
  readonly known: () => string;
  /**
   * Returns the treatment of what is read from now on; null where everything is kept as it comes. One query, as a rule;
   * none where the state was just read.
   *
   * Throws: PersonalDataMismatch.
   */
  current(db: Database, justRead?: StoredState): Promise<PersonalData | null>;
  /**
   * Learns who was forgotten since. `kept` is how the mirror keeps personal data by now (kept_personal_data). No query,
   * as a rule.
   *
   * Throws: PersonalDataMismatch.
   */
  keepUp(db: Database, kept: string): Promise<void>;
}

/** Returns the source for one process. */
export function makePersonalDataSource(settings: PersonalDataSettings): PersonalDataSource {
  // Of this process, not of the mirror: a load compares the two.
  const own = `${settings.mode}:${fingerprintOf(settings) ?? '-'}`;
  let treatment: PersonalData | null = null;
  let rule: Rule | null = null;
  let version = 0;
  let records = 0;

  const known = () => `${own}:${version}:${records}`;
  const namesForgotten = (text: string) => rule !== null && mentionsForgotten(rule, text);

  async function current(db: Database, justRead?: StoredState): Promise<PersonalData | null> {
    const state = justRead ?? (await readState(db));
    refuseOtherMode(settings, state);
    const isKnown = state.version === version && state.forgotten_records === records;
    if (isKnown && (treatment !== null || UNTREATED === known())) return treatment;
    const read = await readRule(db, settings, state);
    rule = read;
    ({ version, forgotten_records: records } = state);
    treatment = UNTREATED === known() ? null : makePersonalData(read, known());
    return treatment;
  }

  return {
    mayQuote: settings.mode === 'plain',
    namesForgotten,
    withoutForgotten: (text) => (namesForgotten(text) ? LEFT_OUT.forgotten : text),
    known,
    current,
    async keepUp(db, kept) {
      if (kept !== known()) await current(db);
    },
  };
}
