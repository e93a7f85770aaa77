// How personal data are kept, as a command is set, compared with the mirror before anything is asked or sent.

import type { PersonalDataSettings } from '../config/personal-data.ts';
import type { Database } from '../db/database.ts';
import { adoptMode } from '../personal-data/adopt-mode.ts';
import { makeTreatment } from '../personal-data/make-treatment.ts';
import { readState, refuseOtherSettings } from '../personal-data/stored-state.ts';
import type { Treatment } from '../records/treatment.ts';

/**
 * Returns the treatment of what is read. With `mayAdopt`, a mirror that has stored nothing yet is made to keep personal
 * data as the settings say.
 *
 * Throws: PersonalDataMismatch.
 */
export async function openTreatment(
  db: Database,
  settings: PersonalDataSettings,
  { mayAdopt = false }: { mayAdopt?: boolean } = {},
): Promise<Treatment> {
  if (mayAdopt) await adoptMode(db, settings);
  refuseOtherSettings(settings, await readState(db));
  return makeTreatment(settings);
}
