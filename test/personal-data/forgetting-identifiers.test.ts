// Whom an identifier leads to, however it is spelled, and under which number a person stays known.

import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { buildAffiliate, buildLink, buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase, createTestDatabaseIn } from '../support/database.ts';
import { PLAIN } from './marked-program.ts';
import { makeSyncs, type Syncs } from './syncs.ts';

const AFFILIATE = 'a0000000-0000-4000-8000-00000000000a';
const REFERRAL = 'b0000000-0000-4000-8000-00000000000b';
const LINK = 'd0000000-0000-4000-8000-00000000000d';
const FORMER = 'm.first@people.example';
const CURRENT = 'maria@people.example';

let pool: pg.Pool;
let db: Database;
let syncs: Syncs;

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
  db = makeDatabase(pool);
  syncs = makeSyncs(db);
});

const forget = (who: string) => forgetPerson(db, PLAIN, { who, by: 'privacy' });
const readOne = async (text: string) => (await pool.query(text)).rows[0];
const customer = (email: string, name = 'Maria Name') => ({ platform: 'stripe', id: 'cus_1', name, email });

async function addReason(reason: string): Promise<void> {
  await pool.query(
    `insert into commission_updates (commission_id, action, reason) values (gen_random_uuid()::text, 'unpay', $1)`,
    [reason],
  );
}

test('an affiliate is found by an identifier in capitals, with the addresses of before', async () => {
  await syncs.affiliate({ id: AFFILIATE, email: FORMER });
  await syncs.affiliate({ id: AFFILIATE, email: CURRENT });
  await syncs.referrals([{ id: REFERRAL, customer: customer(FORMER) }]);
  const forgotten = await forget(AFFILIATE.toUpperCase());
  expect(forgotten).toMatchObject({ records: { affiliates: 1, referrals: 1 }, addresses: 2 });
  expect(await forget(AFFILIATE)).toMatchObject({ number: forgotten.number, counts: new Map() });
});

test('a customer is found by an identifier in capitals, with the addresses of before', async () => {
  await syncs.referrals([{ id: REFERRAL, customer: customer(FORMER) }]);
  await syncs.referrals([{ id: REFERRAL, customer: customer(CURRENT) }]);
  const forgotten = await forget(REFERRAL.toUpperCase());
  expect(forgotten).toMatchObject({ records: { affiliates: 0, referrals: 1 }, addresses: 2 });
});

test('an address with white space around it leads from an identifier to the others who have it', async () => {
  await syncs.referrals([
    { id: REFERRAL, customer: customer(` ${CURRENT} `) },
    { customer: customer(CURRENT) },
  ]);
  expect(await forget(REFERRAL)).toMatchObject({ records: { referrals: 2 }, addresses: 1 });
});

test('a customer without an address is found by an identifier in capitals as well', async () => {
  await syncs.referrals([{ id: REFERRAL, customer: customer('n/a') }]);
  expect(await forget(REFERRAL.toUpperCase())).toMatchObject({ records: { referrals: 1 }, addresses: 0 });
  expect(await readOne('select customer_name from referrals')).toEqual({ customer_name: null });
});

test.each([
  ['an address', ` ${CURRENT}\n`],
  ['an identifier', ` ${AFFILIATE}\t`],
])('white space around %s does not matter', async (_, who) => {
  await syncs.affiliate({ id: AFFILIATE, email: CURRENT });
  expect(await forget(who)).toMatchObject({ records: { affiliates: 1 } });
});

test.each([`Maria ${CURRENT}`, `${CURRENT}, ${FORMER}`])(
  '%j is no address, and nobody is forgotten',
  async (who) => {
    await expect(forget(who)).rejects.toThrow('is neither an e-mail address nor the identifier');
    expect(await readOne('select count(*) as people from forgotten_people')).toEqual({ people: 0 });
  },
);

async function sync(resource: 'affiliates' | 'referrals', record: object): Promise<void> {
  await load(db, { resource, pages: [{ observedAt: at(60), records: [record] }] });
}

test.each([
  ['an identifier', REFERRAL],
  ['the address', CURRENT],
])('records that were recognised are found by %s with what they were known by before', async (_, who) => {
  await syncs.affiliate({ id: AFFILIATE, first_name: 'Elliott', last_name: 'Towne', email: FORMER });
  await syncs.referrals([{ id: REFERRAL, customer: customer('e@people.example', 'Ellie Customer') }]);
  await addReason(`Elliott Towne, ${FORMER}, is Ellie Customer`);
  const { number } = await forget(CURRENT);
  const updated_at = at(60);
  await sync('affiliates', buildAffiliate({ id: AFFILIATE, email: CURRENT, updated_at }));
  await sync('referrals', buildReferral({ id: REFERRAL, customer: customer(CURRENT), updated_at }));
  expect(await readOne('select customer_name from referrals')).toEqual({ customer_name: null });
  expect(await forget(who)).toMatchObject({ number, records: { affiliates: 1, referrals: 1 } });
  expect(await readOne('select reason from commission_updates')).toEqual({
    reason: '[forgotten], [forgotten], is [forgotten]',
  });
});

test('people who turn out to be one are known by the lower number', async () => {
  const other = 'a0000000-0000-4000-8000-00000000000b';
  expect([(await forget(CURRENT)).number, (await forget(FORMER)).number]).toEqual([1, 2]);
  for (const email of ['shared@people.example', null]) {
    const updated_at = at(email === null ? 60 : 1);
    await sync('affiliates', buildAffiliate({ id: AFFILIATE, email: email ?? CURRENT, updated_at }));
    await sync('affiliates', buildAffiliate({ id: other, email: email ?? FORMER, updated_at }));
  }
  const { rows } = await pool.query('select number from forgotten_records order by record_id');
  expect(rows).toEqual([{ number: 1 }, { number: 2 }]);
  expect(await forget(FORMER)).toMatchObject({ number: 1 });
});

test('who forgot somebody is noted', async () => {
  await forget(CURRENT);
  expect(await readOne('select number, forgotten_by from forgotten_people')).toEqual({
    number: 1,
    forgotten_by: 'privacy',
  });
});

test('a link is recognised by its affiliate', async () => {
  await forget(CURRENT);
  await sync('affiliates', buildAffiliate({ id: AFFILIATE, email: CURRENT }));
  const affiliate = buildAffiliate({ id: AFFILIATE, email: 'later@people.example' });
  await sync('referrals', buildReferral({ affiliate, link: buildLink({ id: LINK, token: 'maria' }) }));
  expect(await readOne('select token, url from links')).toEqual({ token: null, url: null });
  expect(await readOne(`select number from forgotten_records where table_name = 'links'`)).toEqual({
    number: 1,
  });
});

test('two mirrors keep another hash of the same address', async () => {
  // Migrated on its own: the other test databases are copies of one.
  const other = await createTestDatabaseIn('en');
  await forget(CURRENT);
  await forgetPerson(makeDatabase(other.pool), PLAIN, { who: CURRENT, by: 'privacy' });
  const hashOf = async (mirror: pg.Pool) =>
    (await mirror.query('select address_hash from forgotten_addresses')).rows[0].address_hash;
  expect(await hashOf(other.pool)).not.toBe(await hashOf(pool));
});
