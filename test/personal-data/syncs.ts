// Loads records of people as syncs do, each load observed a second after the one before.

import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import type { Database } from '../../src/db/database.ts';
import { makeTreatment } from '../../src/personal-data/make-treatment.ts';
import { buildAffiliate, buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';

export interface Syncs {
  affiliate(fields: object): Promise<void>;
  referrals(several: readonly object[]): Promise<void>;
}

/** Returns the syncs of one mirror, in mode plain if left out. */
export function makeSyncs(
  db: Database,
  settings: PersonalDataSettings = { mode: 'plain', key: null },
): Syncs {
  const treatment = makeTreatment(settings);
  let second = 0;
  const nextTime = () => {
    second += 1;
    return at(second);
  };
  return {
    async affiliate(fields) {
      const observedAt = nextTime();
      const records = [buildAffiliate({ ...fields, updated_at: observedAt })];
      await load(db, { resource: 'affiliates', pages: [{ observedAt, records }], treatment });
    },
    async referrals(several) {
      const observedAt = nextTime();
      const records = several.map((fields) => buildReferral({ ...fields, updated_at: observedAt }));
      await load(db, { resource: 'referrals', pages: [{ observedAt, records }], treatment });
    },
  };
}
