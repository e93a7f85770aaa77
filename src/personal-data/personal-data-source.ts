// Hands out the treatment of what is read, up to date with who was forgotten.

import type { PersonalDataSettings } from '../config/personal-data.ts';
import type { Database } from '../db/database.ts';
import type { PersonalData } from '../records/personal-data.ts';
import { makePersonalData } from './make-personal-data.ts';
import { fingerprintOf, readRule, readState, type StoredState } from './stored-state.ts';
import { mentionsForgotten, type Rule } from './treat-fields.ts';

export interface PersonalDataSource {
  /** Whether an error or a reason may quote what the program sent. */
  readonly mayQuote: boolean;
  /** Returns whether a text names somebody who was forgotten, as of when `current` was called last. */
  readonly namesForgotten: (text: string) => boolean;
  /**
   * Returns the treatment of what is read from now on; null where everything is kept as it comes. One query, as a rule;
   * none where the state was just read.
   */
  current(db: Database, justRead?: StoredState): Promise<PersonalData | null>;
}

/** Returns the source for one process. */
export function makePersonalDataSource(settings: PersonalDataSettings): PersonalDataSource {
  let known: PersonalData | null = null;
  let rule: Rule | null = null;
  let knownState = '';
  return {
    mayQuote: settings.mode === 'plain',
    namesForgotten: (text) => rule !== null && mentionsForgotten(rule, text),
    async current(db, justRead) {
      const state = justRead ?? (await readState(db));
      if (settings.mode === 'plain' && state.version === 0) return null;
      // Of this process, not of the mirror: a load compares the two.
      const stamp = [settings.mode, fingerprintOf(settings) ?? '-', state.version].join(':');
      // Loads add the records that they recognise, and the stamp stays.
      const current = `${stamp}, ${state.forgotten_records}`;
      if (knownState !== current) {
        rule = await readRule(db, settings, state);
        known = makePersonalData(rule, stamp);
        knownState = current;
      }
      return known;
    },
  };
}
