// Records that are new, and recognised by a forgotten address alone: they are the person's from then on, with what belongs
// to them, whatever address they have later.

import type pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { makeTreatment } from '../../src/personal-data/make-treatment.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import {
  buildAffiliate,
  buildCommission,
  buildLink,
  buildReferral,
  buildSale,
} from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { HASH, PLAIN } from './marked-program.ts';

const AFFILIATE = 'a0000000-0000-4000-8000-00000000000a';
const LINK = 'd0000000-0000-4000-8000-00000000000d';
const REFERRAL = 'b0000000-0000-4000-8000-00000000000b';
const FORGOTTEN = 'maria@people.example';
const LATER = 'somebody.new@people.example';

let pool: pg.Pool;
let db: Database;
let second: number;

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
  db = makeDatabase(pool);
  second = 0;
});

async function sync(
  settings: PersonalDataSettings,
  resource: 'affiliates' | 'referrals' | 'commissions',
  record: (observedAt: string) => object,
): Promise<void> {
  second += 1;
  const observedAt = at(second);
  const pages = [{ observedAt, records: [record(observedAt)] }];
  await load(db, { resource, pages, treatment: makeTreatment(settings) });
}

const affiliate =
  (email: string, fields: object = {}) =>
  (updated_at: string) =>
    buildAffiliate({ id: AFFILIATE, email, unconfirmed_email: null, updated_at, ...fields });

const readOne = async (text: string) => (await pool.query(text)).rows[0];

describe.each([PLAIN, HASH])('in mode $mode', (settings) => {
  beforeEach(async () => {
    await switchMode(db, settings);
    await forgetPerson(db, settings, { who: FORGOTTEN, by: 'privacy' });
  });

  test('the links of an affiliate who signs up again are stored without what leads to the person', async () => {
    const links = [buildLink({ id: LINK, token: 'maria', url: 'https://x.example/maria' })];
    await sync(settings, 'affiliates', affiliate(FORGOTTEN, { links }));
    expect(await readOne('select token, url from links')).toEqual({ token: null, url: null });
  });

  test('an affiliate who has another address later is kept out all the same, and so are links that are new', async () => {
    await sync(settings, 'affiliates', affiliate(FORGOTTEN));
    const links = [buildLink({ id: LINK, token: 'maria', url: 'https://x.example/maria' })];
    await sync(settings, 'affiliates', affiliate(LATER, { first_name: 'Maria', links }));
    expect(await readOne('select first_name, email from affiliates')).toEqual({
      first_name: null,
      email: null,
    });
    expect(await readOne('select token, url from links')).toEqual({ token: null, url: null });
  });

  test('a link that a payment shows first is stored without what leads to the person', async () => {
    await sync(settings, 'affiliates', affiliate(FORGOTTEN));
    await sync(settings, 'commissions', () =>
      commissionOf({ token: 'maria', url: 'https://x.example/maria' }),
    );
    expect(await readOne('select token, url from links')).toEqual({ token: null, url: null });
    // Whose it is, nothing says: not even that it is anybody else's.
    expect(await readOne(`select conversions, affiliate_id from links`)).toEqual({
      conversions: 1,
      affiliate_id: null,
    });
  });

  test('a link that was kept out stays so when a payment shows it later', async () => {
    const links = [buildLink({ id: LINK, token: 'maria', url: 'https://x.example/maria' })];
    await sync(settings, 'affiliates', affiliate(FORGOTTEN, { links }));
    await sync(settings, 'commissions', () =>
      commissionOf({ token: 'maria2', url: 'https://x.example/maria2' }),
    );
    const other = buildAffiliate({
      id: 'a0000000-0000-4000-8000-0000000000ff',
      email: 'other@people.example',
    });
    await sync(settings, 'referrals', () => buildReferral({ affiliate: other, link: links[0] }));
    expect(await readOne('select token, url from links')).toEqual({ token: null, url: null });
    expect(
      await readOne(`select count(*) as noted from forgotten_records where table_name = 'links'`),
    ).toEqual({
      noted: 1,
    });
  });

  test('a customer who has another address later is kept out all the same', async () => {
    for (const email of [FORGOTTEN, LATER]) {
      const customer = { platform: 'stripe', id: 'cus_1', name: 'Maria Name', email };
      await sync(settings, 'referrals', (updated_at) =>
        buildReferral({ id: REFERRAL, customer, updated_at }),
      );
    }
    expect(await readOne('select customer_name, customer_email from referrals')).toEqual({
      customer_name: null,
      customer_email: null,
    });
  });
});

/** A commission as its address shows it: the link of the sale does not say whose it is. */
function commissionOf(link: object): object {
  const affiliate = buildAffiliate({ id: AFFILIATE, email: FORGOTTEN });
  return buildCommission({
    sale: buildSale({ affiliate, referral: buildReferral({ link: buildLink({ id: LINK, ...link }) }) }),
  });
}

test('the links of others are stored as ever, from a payment once their affiliate shows them', async () => {
  await forgetPerson(db, PLAIN, { who: FORGOTTEN, by: 'privacy' });
  const link = buildLink({ id: LINK, token: 'ann' });
  const owner = buildAffiliate({ id: AFFILIATE, email: LATER });
  const sale = buildSale({ affiliate: owner, referral: buildReferral({ link }) });
  await sync(PLAIN, 'commissions', () => buildCommission({ sale }));
  expect(await readOne('select token from links')).toEqual({ token: null });
  await sync(PLAIN, 'affiliates', affiliate(LATER, { links: [link] }));
  expect(await readOne('select token from links')).toEqual({ token: 'ann' });
  // And a payment does not take it away again.
  await sync(PLAIN, 'commissions', () =>
    buildCommission({ sale: { ...sale, referral: buildReferral({ link }) } }),
  );
  expect(await readOne('select token from links')).toEqual({ token: 'ann' });
});

test('a record that takes a forgotten address is emptied at once; forgotten again, it is gone from the history too', async () => {
  const links = [buildLink({ id: LINK, token: 'elliott' })];
  await sync(PLAIN, 'affiliates', affiliate(LATER, { first_name: 'Elliott', last_name: 'Towne', links }));
  await pool.query(
    `insert into commission_updates (commission_id, action, reason)
     values (gen_random_uuid()::text, 'unpay', 'Elliott Towne, ${LATER}, is locked')`,
  );
  const { number } = await forgetPerson(db, PLAIN, { who: FORGOTTEN, by: 'privacy' });
  await sync(PLAIN, 'affiliates', affiliate(LATER, { unconfirmed_email: FORGOTTEN, links }));
  expect(await readOne('select first_name, email from affiliates')).toEqual({
    first_name: null,
    email: null,
  });
  const again = await forgetPerson(db, PLAIN, { who: FORGOTTEN, by: 'privacy' });
  expect(again).toMatchObject({ number, records: { affiliates: 1, links: 1 } });
  const { rows } = await pool.query(
    `select from record_history
     where before ->> 'first_name' is not null or before ->> 'email' is not null or before ->> 'token' is not null`,
  );
  expect(rows).toEqual([]);
  expect(await readOne('select reason from commission_updates')).toEqual({
    reason: '[forgotten], [forgotten], is locked',
  });
});
