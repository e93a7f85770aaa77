// A mirror of its own for each test, and the syncs that fill it: each is observed a second after the one before.

import { beforeEach } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/program/personal-data.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import type { Treatment } from '../../src/decode/treatment.ts';
import type { LoadResult } from '../../src/mirror/load-batch.ts';
import { type Forgetting, forgetPerson } from '../../src/mirror/people/forget-person.ts';
import { makeTreatment } from '../../src/mirror/people/make-treatment.ts';
import { switchMode } from '../../src/mirror/people/switch-mode.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { buildAffiliate, buildCommission, buildReferral } from './build-records.ts';
import { at, load } from './load.ts';

const BUILD = { affiliates: buildAffiliate, referrals: buildReferral, commissions: buildCommission };

export interface Mirror extends TestDatabase {
  /** Of the mode that the mirror was switched to, plain at first. */
  treatment(): Treatment;
  switchTo(settings: PersonalDataSettings): Promise<void>;
  /** Loads one page of these records, which need only the fields that matter. */
  sync(resource: keyof typeof BUILD & ListedResource, ...records: readonly object[]): Promise<LoadResult>;
  forget(who: string): Promise<Forgetting>;
  rows(query: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

/** Registers an empty mirror for each test of the file. */
export function useMirror(): () => Mirror {
  let mirror: Mirror | undefined;
  beforeEach(async () => {
    mirror = makeMirror(await createTestDatabase());
  });
  return () => {
    if (mirror === undefined) throw new Error('no test is running');
    return mirror;
  };
}

function makeMirror(database: TestDatabase): Mirror {
  const { db, pool } = database;
  let settings: PersonalDataSettings = { mode: 'plain', key: null };
  let second = 0;
  const treatment = () => makeTreatment(settings);
  return {
    ...database,
    treatment,
    async switchTo(other) {
      await switchMode(db, other);
      settings = other;
    },
    sync(resource, ...given) {
      second += 1;
      const observedAt = at(second);
      const records = given.map((fields) => BUILD[resource]({ updated_at: observedAt, ...fields }));
      return load(db, { resource, pages: [{ observedAt, records }], treatment: treatment() });
    },
    forget: (who) => forgetPerson(db, settings, { who, by: 'privacy' }),
    rows: async (query, values = []) => (await pool.query(query, [...values])).rows,
  };
}
