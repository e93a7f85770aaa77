// By which names and addresses a person who is forgotten is found in texts.

import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { createTestDatabase } from '../support/database.ts';
import { PLAIN } from './marked-program.ts';
import { makeSyncs, type Syncs } from './syncs.ts';

const AFFILIATE = 'a0000000-0000-4000-8000-00000000000a';
const REFERRAL = 'b0000000-0000-4000-8000-00000000000b';
const EMAIL = 'maria@people.example';

let pool: pg.Pool;
let db: Database;
let syncs: Syncs;

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
  db = makeDatabase(pool);
  syncs = makeSyncs(db);
});

async function syncAffiliate(
  first_name: string | null,
  last_name: string | null,
  addresses: { email?: string; unconfirmed_email?: string | null } = {},
): Promise<void> {
  await syncs.affiliate({ id: AFFILIATE, first_name, last_name, email: EMAIL, ...addresses });
}

async function syncCustomer(name: string, email = EMAIL): Promise<void> {
  await syncs.referrals([{ id: REFERRAL, customer: { platform: 'stripe', id: 'cus_1', name, email } }]);
}

/** Returns what is left of the reason of a payment once the person is forgotten. */
async function leftOf(reason: string, who = EMAIL): Promise<string> {
  await pool.query(
    `insert into commission_updates (commission_id, action, reason) values (gen_random_uuid()::text, 'unpay', $1)`,
    [reason],
  );
  await forgetPerson(db, PLAIN, { who, by: 'privacy' });
  const { rows } = await pool.query<{ reason: string }>('select reason from commission_updates');
  return rows[0]?.reason ?? '';
}

test('a customer is found by the names of before as well', async () => {
  for (const name of ['Maria Oldest', 'Maria Older', 'Maria Newname']) await syncCustomer(name);
  expect(await leftOf('Maria Oldest disputes, then maria older; now Maria Newname and Maria Other')).toBe(
    '[forgotten] disputes, then [forgotten]; now [forgotten] and Maria Other',
  );
});

test('an affiliate is found by each first name with each last name that was theirs', async () => {
  await syncAffiliate('Ann', 'Oldname');
  await syncAffiliate('Ann', 'Middle');
  await syncAffiliate('Maria', 'Middle');
  await syncAffiliate('Maria', null);
  expect(await leftOf('Ann Oldname, Ann Middle, maria middle; Maria Oldname and Ann')).toBe(
    '[forgotten], [forgotten], [forgotten]; [forgotten] and Ann',
  );
});

test('a name is found with the last name first as well, a first or a last name alone is not', async () => {
  await syncAffiliate('Rodney', 'Schmeler');
  await syncCustomer('Anna Maria Vries');
  expect(
    await leftOf('Schmeler, Rodney; schmeler,rodney; Vries, Anna  Maria; Schmeler; Vries, Rodney; Rodney'),
  ).toBe('[forgotten]; [forgotten]; [forgotten]; Schmeler; Vries, Rodney; Rodney');
});

test.each([
  ['its present address', EMAIL],
  ['an old address', 'm.first@people.example'],
  ['one that waited to be confirmed', 'm.second@people.example'],
  ['its identifier', AFFILIATE],
])(
  'an affiliate that is forgotten by %s is found by its identifier and every other address',
  async (_, who) => {
    await syncAffiliate('Maria', 'Name', { email: 'm.first@people.example' });
    await syncAffiliate('Maria', 'Name', {
      email: 'm.first@people.example',
      unconfirmed_email: 'M.Second@People.example',
    });
    await syncAffiliate('Maria', 'Name');
    const left = await leftOf(
      `m.first@people.example, m.second@people.example; ${EMAIL}; x.${EMAIL}, ${EMAIL}.au; ${AFFILIATE}`,
      who,
    );
    expect(left).toBe(`[forgotten], [forgotten]; [forgotten]; x.${EMAIL}, ${EMAIL}.au; [forgotten]`);
  },
);

test('a name is found as it is, whatever characters it has', async () => {
  await syncCustomer("O'Neil (Sr.) +1 [x] $2");
  expect(await leftOf("for O'Neil (Sr.) +1 [x] $2!")).toBe('for [forgotten]!');
});

test('a text that has many of the names of a hundred people, or none, is looked through in time', async () => {
  const names = Array.from(
    { length: 100 },
    (_, place) => `First${place * 7919} Middle Last${place * 104_729}`,
  );
  await syncs.referrals(
    names.map((name, place) => ({
      id: `b0000000-0000-4000-8000-${String(place).padStart(12, '0')}`,
      customer: { platform: 'stripe', id: `cus_${place}`, name, email: EMAIL },
    })),
  );
  await pool.query(`
    insert into commission_updates (commission_id, action, reason)
    select gen_random_uuid()::text, 'unpay',
      case n when 1 then 'for Last104729, first7919 middle' else repeat('somebody else asked for it, ', 10) || n end
    from generate_series(1, 500) n`);
  await forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  const { rows } = await pool.query('select reason from commission_updates order by id limit 1');
  expect(rows).toEqual([{ reason: 'for [forgotten]' }]);
});
