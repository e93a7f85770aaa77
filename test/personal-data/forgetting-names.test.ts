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

test('an affiliate is found by each name that was theirs at one time, and by no mixture of two', async () => {
  await syncAffiliate('Ann', 'Oldname');
  await syncAffiliate('Ann', 'Middle');
  await syncAffiliate('Maria', 'Middle');
  await syncAffiliate('Maria', null);
  expect(await leftOf('Ann Oldname, Ann Middle, Maria Middle; Maria Oldname and Ann')).toBe(
    '[forgotten], [forgotten], [forgotten]; Maria Oldname and Ann',
  );
});

test('a name is found in reverse as well, a first or a last name alone is not', async () => {
  await syncAffiliate('Rodney', 'Schmeler');
  await syncCustomer('Anna Maria de Vries');
  expect(
    await leftOf(
      'Schmeler, Rodney; schmeler,rodney; de Vries, Anna Maria; Vries, Anna Maria de; Schmeler; Vries, Rodney',
    ),
  ).toBe('[forgotten]; [forgotten]; [forgotten]; [forgotten]; Schmeler; Vries, Rodney');
});

test('a name of six words is found in reverse as well, and so is one with a tab in it', async () => {
  await syncAffiliate('Anna Maria', 'de la Cruz Vega');
  await syncCustomer('Rodney\tSchmeler');
  expect(await leftOf('de la Cruz Vega, Anna Maria; Schmeler, Rodney')).toBe('[forgotten]; [forgotten]');
});

test('a name that the program has in reverse is found the other way round as well', async () => {
  await syncCustomer('Schmeler,Rodney');
  expect(await leftOf('Rodney Schmeler; Schmeler, Rodney; Rodney')).toBe('[forgotten]; [forgotten]; Rodney');
});

test.each([
  ['Schmeler, Rodney, Jr.', 'by Schmeler, Rodney, Jr.', 'by [forgotten]'],
  ['Rodney Schmeler,', 'by Rodney Schmeler', 'by [forgotten]'],
])('a name with the odd commas of %j is found as it is', async (name, reason, left) => {
  await syncCustomer(name);
  expect(await leftOf(reason)).toBe(left);
});

test('a name of very many words makes no pattern that is too large', async () => {
  const name = Array.from({ length: 500 }, (_, place) => `word${place}`).join(' ');
  await syncCustomer(name);
  expect(await leftOf(`for ${name}.`)).toBe('for [forgotten].');
});

test.each([
  ['its present address', EMAIL],
  ['an old address', 'm.first@people.example'],
  ['one that waited to be confirmed', 'm.second@people.example'],
  ['its identifier', AFFILIATE],
])('an affiliate that is forgotten by %s is found by every other address too', async (_, who) => {
  await syncAffiliate('Maria', 'Name', { email: 'm.first@people.example' });
  await syncAffiliate('Maria', 'Name', {
    email: 'm.first@people.example',
    unconfirmed_email: 'M.Second@People.example',
  });
  await syncAffiliate('Maria', 'Name');
  expect(
    await leftOf(`m.first@people.example, m.second@people.example; ${EMAIL}; x.${EMAIL}, n/a`, who),
  ).toBe(`[forgotten], [forgotten]; [forgotten]; x.${EMAIL}, n/a`);
});

test('each name is found of an address that customers of a hundred names share', async () => {
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

test('a name without a letter of ASCII is found', async () => {
  await syncCustomer('अनु कुमार');
  expect(await leftOf('for अनु कुमार.')).toBe('for [forgotten].');
});

test('a customer is found by the present address too where it is forgotten by an old one', async () => {
  await syncCustomer('Maria Name', 'm.first@people.example');
  await syncCustomer('Maria Name', 'n/a');
  await syncCustomer('Maria Name');
  expect(await leftOf(`m.first@people.example is ${EMAIL} now, n/a`, 'm.first@people.example')).toBe(
    '[forgotten] is [forgotten] now, n/a',
  );
});

test('of a longer address nothing is put in place, whatever joins its parts', async () => {
  await syncCustomer('Maria Name');
  const longer = `x.${EMAIL}, x+${EMAIL}, x-${EMAIL}, x_${EMAIL}, ${EMAIL}-x, ${EMAIL}.au`;
  expect(await leftOf(`${longer}; ${EMAIL}.`)).toBe(`${longer}; [forgotten].`);
});

test.each([
  ['maria+tag@people.example', 'GET https://x.example/?email=maria%2Btag%40people.example&a=1: no'],
  ['maria+tag@people.example', 'GET https://x.example/?q=email%3Dmaria%2Btag%40people.example: no'],
  ["o'hara@people.example", 'O%27Hara@people.example'],
  ["o'hara@people.example", '<b>o&#39;hara@people.example</b>'],
  ["o'hara@people.example", '<b>o&#x27;hara@people.example</b>, o&apos;hara@people.example'],
  ["o'hara@people.example", '<b>o&#039;hara@people.example</b>, o&#x0027;hara@people.example'],
  ['maria&hara@people.example', '<b>maria&amp;hara@people.example</b>'],
  ["o'hara@people.example", String.raw`{"email":"o\u0027hara@people.example"}`],
  ['jürgen@people.example', 'J%C3%BCrgen@people.example and J%c3%9cRGEN@people.example'],
  ['jürgen@people.example', String.raw`{"email":"j\u00fcrgen@people.example"}`],
])('%s is found in %s', async (email, text) => {
  await syncCustomer('Maria Name', email);
  const left = await leftOf(text, email);
  expect(left).toContain('[forgotten]');
  expect(left).not.toMatch(/people|maria|hara|rgen/i);
});

test('a name is found as a web address spells it', async () => {
  await syncCustomer('Jürgen Müller-Name');
  expect(
    await leftOf('GET /?name=J%C3%BCrgen%20M%C3%BCller-Name, /?name=J%C3%BCrgen+M%C3%BCller-Name&x=1'),
  ).toBe('GET /?name=[forgotten], /?name=[forgotten]&x=1');
});
