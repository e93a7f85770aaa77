// Records that were refused, and fields that the contract does not know, where they name a person who is forgotten.

import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { buildAffiliate, buildLink, buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { OMIT, PLAIN } from './marked-program.ts';
import { makeSyncs } from './syncs.ts';

const AFFILIATE = 'a0000000-0000-4000-8000-00000000000a';
const REFERRAL = 'b0000000-0000-4000-8000-00000000000b';
const LINK = 'd0000000-0000-4000-8000-00000000000d';
const EMAIL = 'maria@people.example';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
  const links = [buildLink({ id: LINK })];
  await makeSyncs(db).affiliate({
    id: AFFILIATE,
    first_name: 'Maria',
    last_name: 'Name',
    email: EMAIL,
    links,
  });
  const customer = { platform: 'stripe', id: 'cus_1', name: 'Maria Customer', email: EMAIL };
  await makeSyncs(db).referrals([{ id: REFERRAL, customer, link: null }]);
});

async function addRejected(id: string | null, reason: string, payload: object): Promise<void> {
  await database.pool.query(
    `insert into rejected_records (resource, record_id, reason, payload, observed_at)
     values ('referrals', $1, $2, $3, now())`,
    [id, reason, JSON.stringify(payload)],
  );
}

async function readRejected(): Promise<unknown[]> {
  const { rows } = await database.pool.query('select reason, payload from rejected_records order by id');
  return rows;
}

test.each<[string, string | null, string, object]>([
  ['an address', null, 'visits', { note: EMAIL }],
  ['its identifier', REFERRAL, 'visits', {}],
  ['the identifier of an affiliate', null, 'visits', { affiliate: { id: AFFILIATE.toUpperCase() } }],
  ['the identifier of a customer', null, 'visits', { referral: REFERRAL }],
  ['the identifier of a link', null, 'visits', { link: { id: LINK } }],
  ['a name, in whatever case', null, 'visits', { customer: { name: 'maria CUSTOMER' } }],
])('a record that names the person by %s is left out', async (_, id, reason, payload) => {
  await addRejected('b0000000-0000-4000-8000-0000000000ff', 'visits', { note: 'Maria' });
  await addRejected(id, reason, payload);
  const { counts } = await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  expect(counts.get('rejected_records')).toBe(1);
  expect(await readRejected()).toEqual([
    { reason: 'visits', payload: { note: 'Maria' } },
    { reason: 'visits', payload: { id, left_out: expect.any(String) } },
  ]);
});

test.each([
  ['an affiliate', AFFILIATE],
  ['a customer', REFERRAL],
  ['a link', LINK.toUpperCase()],
])('what names the person by the identifier of %s is not stored later', async (_, id) => {
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  const affiliate = buildAffiliate({ email: 'other@people.example' });
  const noted = buildReferral({ affiliate, customer: null, link: null, note: `like ${id}` });
  const records = [noted, { ...noted, id: 'b0000000-0000-4000-8000-0000000000ff', visits: 'many' }];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(9), records }] });
  expect(await readRejected()).toEqual([
    {
      reason: expect.stringContaining('visits'),
      payload: {
        id: 'b0000000-0000-4000-8000-0000000000ff',
        left_out: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    },
  ]);
  const { rows } = await database.pool.query('select _extra from referrals where id = $1', [noted.id]);
  expect(rows).toEqual([{ _extra: null }]);
});

test('fields that the contract does not know are gone with the person, as if there had been none', async () => {
  await makeSyncs(db).referrals([{ customer: null, note: `wrote to ${EMAIL}` }]);
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  expect((await database.pool.query('select from referrals where _extra is not null')).rowCount).toBe(0);
});

test('a record of the program that looks as if it were left out is left out all the same', async () => {
  await addRejected(null, 'visits', { id: null, left_out: 'no', note: EMAIL });
  await switchMode(db, OMIT);
  expect(await readRejected()).toEqual([
    { reason: 'visits', payload: { id: null, left_out: 'rejection 1' } },
  ]);
});
