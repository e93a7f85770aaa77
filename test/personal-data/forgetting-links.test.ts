// Links that the mirror knows through the referral of a sale alone, which does not say whose they are.

import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import {
  buildAffiliate,
  buildCommission,
  buildLink,
  buildReferral,
  buildSale,
} from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { PLAIN } from './marked-program.ts';

const EMAIL = 'maria@people.example';
const MARIA = { id: 'a0000000-0000-4000-8000-00000000000a', email: EMAIL };
const OTHER = { id: 'a0000000-0000-4000-8000-00000000000b', email: 'somebody@people.example' };

let pool: pg.Pool;
let db: Database;

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
  db = makeDatabase(pool);
});

const linkOf = (token: string) => buildLink({ token, url: `https://example.com/?via=${token}` });

/** Loads the sale's commission as a payment does: the affiliate is beside the referral, not in it. */
async function loadSale(affiliate: object, referral: object): Promise<void> {
  const sale = buildSale({ affiliate: buildAffiliate(affiliate), referral });
  const records = [buildCommission({ sale })];
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records }] });
}

async function forgetMaria(): Promise<unknown[]> {
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  const { rows } = await pool.query('select affiliate_id, token, url from links order by token nulls last');
  return rows;
}

const STRANGERS = { affiliate_id: null, token: 'other', url: 'https://example.com/?via=other' };
const FORGOTTEN = { affiliate_id: null, token: null, url: null };

test('such a link is forgotten with the affiliate of the sale', async () => {
  await loadSale(MARIA, buildReferral({ affiliate: undefined, link: linkOf('maria') }));
  await loadSale(OTHER, buildReferral({ affiliate: undefined, link: linkOf('other') }));
  expect(await forgetMaria()).toEqual([STRANGERS, FORGOTTEN]);
});

test('such a link is forgotten with the affiliate of the referral, also where that names it no longer', async () => {
  const referral = buildReferral({ affiliate: undefined, link: linkOf('maria') });
  await loadSale(OTHER, referral);
  await loadSale(OTHER, buildReferral({ affiliate: undefined, link: linkOf('other') }));
  const records = [{ ...referral, affiliate: buildAffiliate(MARIA), link: null }];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(2), records }] });
  expect(await forgetMaria()).toEqual([STRANGERS, FORGOTTEN]);
});

test('a link of another affiliate stays, also where a referral of the person names it', async () => {
  const link = linkOf('other');
  const affiliates = [buildAffiliate({ ...OTHER, links: [link] })];
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records: affiliates }] });
  const records = [buildReferral({ affiliate: buildAffiliate(MARIA), link: linkOf('maria') })];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(2), records }] });
  await pool.query('update referrals set link_id = $1', [link.id]);
  expect(await forgetMaria()).toEqual([
    { ...STRANGERS, affiliate_id: OTHER.id },
    { ...FORGOTTEN, affiliate_id: MARIA.id },
  ]);
});
