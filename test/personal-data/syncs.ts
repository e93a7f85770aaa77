// Loads records of people as syncs do, each load observed a second after the one before.

import type { Database } from '../../src/db/database.ts';
import { buildAffiliate, buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';

export interface Syncs {
  affiliate(fields: object): Promise<void>;
  referrals(several: readonly object[]): Promise<void>;
}

/** Returns the syncs of one mirror. */
export function makeSyncs(db: Database): Syncs {
  let second = 0;
  const nextTime = () => {
    second += 1;
    return at(second);
  };
  return {
    async affiliate(fields) {
      const observedAt = nextTime();
      const records = [buildAffiliate({ ...fields, updated_at: observedAt })];
      await load(db, { resource: 'affiliates', pages: [{ observedAt, records }] });
    },
    async referrals(several) {
      const observedAt = nextTime();
      const records = several.map((fields) => buildReferral({ ...fields, updated_at: observedAt }));
      await load(db, { resource: 'referrals', pages: [{ observedAt, records }] });
    },
  };
}
