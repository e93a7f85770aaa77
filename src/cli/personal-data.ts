// How personal data are kept, as a command is set, compared with the mirror before anything is asked or sent.

import type { PersonalDataSettings } from '../config/personal-data.ts';
import type { Database } from '../db/database.ts';
import { adoptMode } from '../personal-data/adopt-mode.ts';
import { makePersonalDataSource, type PersonalDataSource } from '../personal-data/personal-data-source.ts';
import { readState, refuseOtherMode } from '../personal-data/stored-state.ts';

/**
 * Returns the source of the treatment. With `mayAdopt`, a mirror that has stored nothing yet is made to keep personal
 * data as the settings say.
 *
 * Throws: PersonalDataMismatch.
 */
export async function openPersonalData(
  db: Database,
  settings: PersonalDataSettings,
  { mayAdopt = false }: { mayAdopt?: boolean } = {},
): Promise<PersonalDataSource> {
  if (mayAdopt) await adoptMode(db, settings);
  const state = await readState(db);
  refuseOtherMode(settings, state);
  const source = makePersonalDataSource(settings);
  // Who was forgotten is known before the first error quotes anything.
  await source.current(db, state);
  return source;
}
