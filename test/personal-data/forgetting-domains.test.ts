// A person whose address has a domain beyond ASCII is the same person in both of its spellings.

import type pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { makeTreatment } from '../../src/personal-data/make-treatment.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findText, HASH, PLAIN } from './marked-program.ts';
import { makeSyncs, type Syncs } from './syncs.ts';

const UNICODE = 'maria@münchen.example';
const ASCII = 'maria@xn--mnchen-3ya.example';
const CAPITALS = 'Maria@MÜNCHEN.example';
const OTHER = 'maria@munchen.example';

let database: TestDatabase;
let pool: pg.Pool;
let db: Database;
let syncs: Syncs;

beforeEach(async () => {
  database = await createTestDatabase();
  ({ pool } = database);
  db = makeDatabase(pool);
  syncs = makeSyncs(db);
});

const readColumn = async (query: string) =>
  (await pool.query({ text: query, rowMode: 'array' })).rows.map(([value]) => value);
const named = () => readColumn('select customer_name is not null from referrals order by id');
const referral = (place: number, email: string) => ({
  id: `b0000000-0000-4000-8000-00000000000${place}`,
  customer: { platform: 'stripe', id: `cus_${place}`, name: 'Maria Name', email },
});

describe.each([PLAIN, HASH])('in mode $mode', (settings) => {
  test.each([UNICODE, ASCII])(
    'a person who is forgotten as %s is forgotten and kept out in each spelling',
    async (who) => {
      await switchMode(db, settings);
      syncs = makeSyncs(db, settings);
      await syncs.affiliate({ email: ASCII });
      await syncs.referrals([UNICODE, ASCII, CAPITALS, OTHER].map((email, place) => referral(place, email)));
      const forgotten = await forgetPerson(db, settings, { who, by: 'privacy' });
      expect(forgotten).toMatchObject({ records: { affiliates: 1, referrals: 3 } });
      const treatment = makeTreatment(settings);
      const records = [UNICODE, ASCII, OTHER].map((email, place) =>
        buildReferral(referral(place + 4, email)),
      );
      await load(db, { resource: 'referrals', pages: [{ observedAt: at(9), records }], treatment });
      expect(await named()).toEqual([false, false, false, true, false, false, true]);
    },
  );
});

test('an address has one hash in each spelling', async () => {
  await switchMode(db, HASH);
  syncs = makeSyncs(db, HASH);
  await syncs.referrals([UNICODE, ASCII, CAPITALS].map((email, place) => referral(place, email)));
  expect(await readColumn('select distinct customer_email from referrals')).toHaveLength(1);
});

/** As others may note the address in a field that the contract does not know. */
const NOTES = [`Wrote to ${UNICODE}.`, `Wrote to ${ASCII}.`, `Wrote to ${CAPITALS}.`];

test.each(NOTES)(
  'an address that is forgotten in one spelling is gone and kept out of texts: %j',
  async (note) => {
    const noted = (place: number) => ({ ...referral(place, OTHER), customer: null, note });
    await syncs.referrals([noted(0)]);
    await forgetPerson(db, PLAIN, { who: note.includes('xn--') ? UNICODE : ASCII, by: 'privacy' });
    const pages = [{ observedAt: at(9), records: [buildReferral(noted(1))] }];
    await load(db, { resource: 'referrals', pages });
    expect(await findText(database, 'maria')).toEqual([]);
  },
);
