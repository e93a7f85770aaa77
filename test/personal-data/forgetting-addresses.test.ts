// Whose rows the addresses of a person who is forgotten lead to.

import { createSecretKey } from 'node:crypto';
import type pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { buildAffiliate, buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { HASH, OMIT, PLAIN } from './marked-program.ts';
import { makeSyncs, type Syncs } from './syncs.ts';

const AFFILIATE = 'a0000000-0000-4000-8000-00000000000a';
const CURRENT = 'maria@people.example';
const WAITING = 'm.second@people.example';
const FORMER = 'm.first@people.example';
const OTHER = 'somebody@people.example';
const OTHER_KEY: PersonalDataSettings = {
  mode: 'hash',
  key: createSecretKey(Buffer.alloc(32, 'another key ')),
};

let pool: pg.Pool;
let db: Database;
let syncs: Syncs;

async function begin(settings: PersonalDataSettings): Promise<void> {
  await switchMode(db, settings);
  syncs = makeSyncs(db, settings);
}

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
  db = makeDatabase(pool);
  syncs = makeSyncs(db);
});

async function syncAffiliate(id: string, email: string, unconfirmed_email: string | null): Promise<void> {
  await syncs.affiliate({ id, email, unconfirmed_email });
}

function idOf(place: number): string {
  return `b0000000-0000-4000-8000-00000000000${place}`;
}

/** One referral for each address, in their order. */
async function syncCustomers(emails: readonly string[]): Promise<void> {
  await syncs.referrals(
    emails.map((email, place) => ({
      id: idOf(place),
      customer: { platform: 'stripe', id: `cus_${place}`, name: 'Maria Name', email },
    })),
  );
}

/** Returns whether each referral still says who the customer is, in their order. */
async function stillNamed(): Promise<boolean[]> {
  const { rows } = await pool.query<{ named: boolean }>(
    'select customer_name is not null or customer_email is not null as named from referrals order by id',
  );
  return rows.map(({ named }) => named);
}

describe.each([PLAIN, HASH])('in mode $mode', (settings) => {
  test.each([
    ['its present address', CURRENT],
    ['one that waits to be confirmed', WAITING],
    ['an old address', FORMER],
    ['its identifier', AFFILIATE],
  ])('an affiliate that is forgotten by %s is forgotten as a customer of each other one', async (_, who) => {
    await begin(settings);
    await syncAffiliate(AFFILIATE, FORMER, null);
    await syncAffiliate(AFFILIATE, CURRENT, WAITING);
    await syncCustomers([CURRENT, WAITING, FORMER, OTHER]);
    const forgotten = await forgetPerson(db, settings, { who, by: 'privacy' });
    expect(forgotten).toMatchObject({ records: { affiliates: 1, referrals: 3 } });
    expect(await stillNamed()).toEqual([false, false, false, true]);
    const again = await forgetPerson(db, settings, { who: FORMER, by: 'privacy' });
    expect(again).toMatchObject({ number: forgotten.number, counts: new Map() });
  });

  test('a customer who is forgotten by identifier is forgotten by the address of before too', async () => {
    await begin(settings);
    await syncCustomers([FORMER, FORMER, OTHER]);
    await syncCustomers([CURRENT, FORMER, OTHER]);
    await forgetPerson(db, settings, { who: idOf(0), by: 'privacy' });
    expect(await stillNamed()).toEqual([false, false, true]);
  });
});

test.each([
  [
    'white space that only Unicode knows around it',
    '\u00a0maria@people.example\u2003',
    'maria@people.example',
  ],
  ['its letters in another composition', 'vi\u0301rgie@people.example', 'v\u00edrgie@people.example'],
  ['capitals beyond ASCII', 'MÄRIA@people.example', 'märia@people.example'],
])('an address that is stored with %s leads to the person', async (_, stored, who) => {
  await syncAffiliate(AFFILIATE, FORMER, null);
  await syncAffiliate(AFFILIATE, stored, null);
  await syncCustomers([stored, FORMER, OTHER]);
  const forgotten = await forgetPerson(db, PLAIN, { who, by: 'privacy' });
  expect(forgotten).toMatchObject({ records: { affiliates: 1, referrals: 2 } });
  expect(await stillNamed()).toEqual([false, false, true]);
});

test('an address that leads to another affiliate leads to the addresses of that one as well', async () => {
  await syncAffiliate(AFFILIATE, CURRENT, WAITING);
  await syncAffiliate('a0000000-0000-4000-8000-00000000000b', WAITING, FORMER);
  await syncCustomers([FORMER, OTHER]);
  const forgotten = await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  expect(forgotten.records).toMatchObject({ affiliates: 2, referrals: 1 });
  expect(await stillNamed()).toEqual([false, true]);
});

test('the coupons of an affiliate are forgotten in the history too, also where they do not say whose they are', async () => {
  await syncAffiliate(AFFILIATE, CURRENT, null);
  const coupon = { id: 'c0000000-0000-4000-8000-00000000000c', token: 'MARIA10' };
  const referral = { id: idOf(0), affiliate: buildAffiliate({ id: AFFILIATE, email: CURRENT }), link: null };
  const other = { id: idOf(1), link: null, coupon: { ...coupon, token: 'OTHER10' } };
  await syncs.referrals([{ ...referral, coupon }, other]);
  await syncs.referrals([
    { ...referral, coupon: { ...coupon, token: 'MARIA20' } },
    { ...other, coupon: { ...coupon, token: 'OTHER20' } },
  ]);
  await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  const { rows } = await pool.query(
    `select before -> 'coupon' ->> 'token' as before, after -> 'coupon' ->> 'token' as after
     from record_history where before ? 'coupon' order by record_id`,
  );
  expect(rows).toEqual([
    { before: null, after: null },
    { before: 'OTHER10', after: 'OTHER20' },
  ]);
});

test('a coupon in the history is whose it was then, whoever has the referral now', async () => {
  await syncAffiliate(AFFILIATE, CURRENT, null);
  const hers = buildAffiliate({ id: AFFILIATE, email: CURRENT });
  const others = buildAffiliate({ id: 'a0000000-0000-4000-8000-00000000000b', email: OTHER });
  for (const [place, owners] of [[hers, others] as const, [others, hers] as const].entries()) {
    for (const [affiliate, token] of [[owners[0], 'FIRST10'] as const, [owners[1], 'THEN20'] as const]) {
      await syncs.referrals([{ id: idOf(place), affiliate, customer: null, link: null, coupon: { token } }]);
    }
  }
  await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  const { rows } = await pool.query(
    `select before -> 'coupon' ->> 'token' as before, after -> 'coupon' ->> 'token' as after
     from record_history where before ? 'coupon' order by record_id`,
  );
  expect(rows).toEqual([
    { before: null, after: 'THEN20' },
    { before: 'FIRST10', after: null },
  ]);
});

test('an address of the person to which another affiliate is paid is gone and kept out, and the other one stays', async () => {
  const other = { id: AFFILIATE, email: OTHER, payout_email: CURRENT };
  await syncs.affiliate(other);
  await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  const stored = async () => (await pool.query('select email, payout_email from affiliates')).rows;
  expect(await stored()).toEqual([{ email: OTHER, payout_email: null }]);
  const records = [buildAffiliate({ ...other, updated_at: at(9) })];
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(9), records }] });
  expect(await stored()).toEqual([{ email: OTHER, payout_email: null }]);
});

test('a coupon of somebody else is stored as ever, wherever it says whose it is', async () => {
  await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  const affiliate = buildAffiliate({ id: AFFILIATE, email: OTHER });
  const shown = { customer: null, link: null };
  const records = [
    buildReferral({ ...shown, id: idOf(0), affiliate, coupon: { token: 'OTHER10' } }),
    buildReferral({ ...shown, id: idOf(1), coupon: { token: 'OTHER20', affiliate_id: AFFILIATE } }),
    buildReferral({ ...shown, id: idOf(2), coupon: { token: 'ANYBODYS' } }),
  ];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(9), records }] });
  const { rows } = await pool.query(`select coupon ->> 'token' as token from referrals order by id`);
  expect(rows).toEqual([{ token: 'OTHER10' }, { token: 'OTHER20' }, { token: null }]);
});

test('each address of the person is kept out from then on', async () => {
  await syncAffiliate(AFFILIATE, CURRENT, WAITING);
  await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  const { rows } = await pool.query('select count(*) as addresses from forgotten_addresses');
  expect(rows).toEqual([{ addresses: 2 }]);
});

test.each([
  ['from plain to hash', PLAIN, HASH, true],
  ['from hash to plain', HASH, PLAIN, true],
  ['to another key', HASH, OTHER_KEY, true],
  ['from plain to omit', PLAIN, OMIT, false],
])(
  'a switch %s says whether addresses that were forgotten are known no longer',
  async (_, from, to, losesAddresses) => {
    await syncCustomers([CURRENT]);
    await switchMode(db, from);
    expect(await switchMode(db, from)).toMatchObject({ losesAddresses: false });
    await forgetPerson(db, from, { who: CURRENT, by: 'privacy' });
    expect(await switchMode(db, from)).toMatchObject({ isChanged: false, losesAddresses: false });
    expect(await switchMode(db, to)).toMatchObject({ isChanged: true, losesAddresses });
  },
);

test('after a switch to omit and back, a forgotten address is kept out as before', async () => {
  await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  await switchMode(db, OMIT);
  await switchMode(db, PLAIN);
  await syncCustomers([CURRENT]);
  expect(await stillNamed()).toEqual([false]);
});

test('what is no address, such as a dash, leads from an identifier to nobody else', async () => {
  await syncCustomers(['n/a', 'n/a']);
  await forgetPerson(db, PLAIN, { who: idOf(0), by: 'privacy' });
  expect(await stillNamed()).toEqual([false, true]);
});

test('a coupon that says itself whose it is is forgotten with them, whoever has the referral', async () => {
  await syncAffiliate(AFFILIATE, CURRENT, null);
  const coupon = { token: 'MARIA10', affiliate_id: AFFILIATE };
  await syncs.referrals([{ id: idOf(0), customer: null, link: null, coupon }]);
  await forgetPerson(db, PLAIN, { who: CURRENT, by: 'privacy' });
  const { rows } = await pool.query('select coupon from referrals');
  expect(rows).toEqual([{ coupon: { token: null, affiliate_id: AFFILIATE } }]);
});
