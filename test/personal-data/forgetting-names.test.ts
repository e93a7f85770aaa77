// By which names a person who is forgotten is found in texts.

import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { buildAffiliate, buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { PLAIN } from './marked-program.ts';

const AFFILIATE = 'a0000000-0000-4000-8000-00000000000a';
const REFERRAL = 'b0000000-0000-4000-8000-00000000000b';
const EMAIL = 'maria@people.example';

let pool: pg.Pool;
let db: Database;
let second = 0;

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
  db = makeDatabase(pool);
});

async function syncAffiliate(first_name: string | null, last_name: string | null): Promise<void> {
  second += 1;
  const records = [
    buildAffiliate({ id: AFFILIATE, first_name, last_name, email: EMAIL, updated_at: at(second) }),
  ];
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(second), records }] });
}

async function syncCustomer(name: string): Promise<void> {
  second += 1;
  const customer = { platform: 'stripe', id: 'cus_1', name, email: EMAIL };
  const records = [buildReferral({ id: REFERRAL, customer, updated_at: at(second) })];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(second), records }] });
}

/** Returns what is left of the reason of a payment once the person is forgotten. */
async function leftOf(reason: string): Promise<string> {
  await pool.query(
    `insert into commission_updates (commission_id, action, reason) values (gen_random_uuid()::text, 'unpay', $1)`,
    [reason],
  );
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  const { rows } = await pool.query<{ reason: string }>('select reason from commission_updates');
  return rows[0]?.reason ?? '';
}

test('a customer is found by the names of before as well', async () => {
  for (const name of ['Maria Oldest', 'Maria Older', 'Maria Newname']) await syncCustomer(name);
  expect(await leftOf('Maria Oldest disputes, then maria older; now Maria Newname and Maria Other')).toBe(
    '[forgotten] disputes, then [forgotten]; now [forgotten] and Maria Other',
  );
});

test('an affiliate is found by each name that was theirs at one time, and by no mixture of two', async () => {
  await syncAffiliate('Ann', 'Oldname');
  await syncAffiliate('Ann', 'Middle');
  await syncAffiliate('Maria', 'Middle');
  await syncAffiliate('Maria', null);
  expect(await leftOf('Ann Oldname, Ann Middle, Maria Middle; Maria Oldname, Ann')).toBe(
    '[forgotten], [forgotten], [forgotten]; Maria Oldname, Ann',
  );
});
