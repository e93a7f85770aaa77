// A person who is forgotten: gone from every table, kept out of what later syncs bring, and no money is touched.

import { beforeAll, describe, expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../../src/config/program/personal-data.ts';
import { type Forgetting, forgetPerson } from '../../../src/mirror/people/forget-person.ts';
import { vacuum } from '../../../src/mirror/people/rewriting.ts';
import { findText, HASH, PLAIN, useMarkedProgram } from './marked-program.ts';

const EMAIL = 'wilhelmina.quince@people.example';
const NAME = 'Wilhelmina Quince';
/** All that says who it is, or was. */
const TRACES = ['wilhelmina', 'quince', 'w-payout@people.example'];

type Program = ReturnType<ReturnType<typeof useMarkedProgram>>;

/** Makes one affiliate the person, who is also the customer of another affiliate's referral, and returns both. */
async function makePerson({ database }: Program): Promise<{ affiliate: string; referral: string }> {
  const { rows } = await database.pool.query<{ affiliate: string; referral: string }>(`
    with person as (
      update sandbox.affiliates set first_name = 'Wilhelmina', last_name = 'Quince', email = '${EMAIL}',
        payout_email = 'w-payout@people.example', unconfirmed_email = null, updated_at = now(),
        visitors = visitors + 1
      where id = (select affiliate_id from sandbox.commissions order by id limit 1)
      returning id
    ), link as (
      update sandbox.links set token = 'wilhelmina' || id, url = 'https://example.com/?via=wilhelmina' || id
      where affiliate_id in (select id from person)
    ), customer as (
      update sandbox.referrals set customer_name = '${NAME}', customer_email = ' Wilhelmina.QUINCE@people.example',
        updated_at = now()
      where id = (select min(id) from sandbox.referrals
                  where customer_email is not null and affiliate_id not in (select id from person))
      returning id
    )
    select (select id from person) as affiliate, (select id from customer) as referral`);
  const [made] = rows;
  if (made === undefined) throw new Error('no person was made');
  return made;
}

function forget({ db }: Program, settings: PersonalDataSettings, who: string): Promise<Forgetting> {
  return forgetPerson(db, settings, { who, by: 'privacy' });
}

async function traces({ database }: Program): Promise<string[]> {
  return (await Promise.all(TRACES.map((trace) => findText(database, trace)))).flat();
}

/** Returns what money rests on. */
async function money({ database }: Program): Promise<unknown> {
  const { rows } = await database.pool.query(`
    select (select jsonb_agg(to_jsonb(c) - '_observed_at' - '_changed_at' - '_extra' order by id) from commissions c) as commissions,
      (select jsonb_agg(to_jsonb(s) - '_observed_at' - '_changed_at' - '_extra' order by id) from sales s) as sales,
      (select jsonb_agg(to_jsonb(u) - 'reason' - 'batch_id' order by id) from commission_updates u) as updates,
      (select jsonb_agg(to_jsonb(a) order by id) from commission_update_attempts a) as attempts`);
  return rows;
}

describe('in mode plain', () => {
  const program = useMarkedProgram();
  let first: Forgetting;

  beforeAll(async () => {
    const { syncAll, pay, change, database } = program();
    await syncAll(PLAIN);
    await makePerson(program());
    await syncAll(PLAIN, 'delta');
    await pay(PLAIN);
    await change();
    await makePerson(program());
    await syncAll(PLAIN);
    await database.pool.query(`
      insert into commission_updates (commission_id, action, batch_id, reason)
        select id, 'unpay', 'letter of ${EMAIL}', 'as ${NAME} asked' from commissions order by id limit 1;
      insert into rejected_records (resource, record_id, reason, payload, observed_at)
        values ('referrals', null, 'customer: expected object, got string', '{"customer": "${EMAIL}"}', now())`);
    await database.pool.query('analyze');
    expect(await traces(program())).toEqual(
      expect.arrayContaining([
        'affiliates',
        'affiliates.email (statistics)',
        'commission_updates',
        'links',
        'record_history',
        'referrals',
        'rejected_records',
      ]),
    );
  });

  test('an address takes its person out of every table, and leaves the money as it is', async () => {
    const { db } = program();
    const before = await money(program());
    first = await forget(program(), PLAIN, 'Wilhelmina.Quince@People.example');
    await vacuum(db);
    expect(await traces(program())).toEqual([]);
    expect(await money(program())).toEqual(before);
    expect(first).toMatchObject({
      number: 1,
      records: { affiliates: 1, referrals: 1 },
      // And two that the program gave for the affiliate at other times.
      addresses: 3,
      notRewritten: [],
    });
    expect(Object.fromEntries(first.counts)).toMatchObject({
      affiliates: 1,
      referrals: expect.any(Number),
      rejected_records: expect.any(Number),
      commission_updates: 1,
    });
  });

  test('later syncs bring nothing back, also not of records that are new', async () => {
    const { syncAll, pay, database } = program();
    await syncAll(PLAIN);
    expect(await traces(program())).toEqual([]);
    const changes = async () =>
      (await database.pool.query(`select count(*) as changes from record_history`)).rows[0].changes;
    const before = await changes();
    await syncAll(PLAIN);
    expect(await changes()).toBe(before);
    await database.pool.query(`
      insert into sandbox.referrals
      select (jsonb_populate_record(referral, jsonb_build_object('id', gen_random_uuid(), 'created_at', now(),
        'customer_name', '${NAME}', 'customer_email', '${EMAIL}', 'processor_customer_id', 'cus_new'))).*
      from sandbox.referrals referral where customer_email is not null limit 1`);
    await syncAll(PLAIN, 'delta');
    await syncAll(PLAIN);
    await pay(PLAIN);
    expect(await traces(program())).toEqual([]);
    const known = await database.pool.query(
      `select customer_name, customer_email, customer_id from referrals where processor_customer_id is null
         and id in (select id from sandbox.referrals where processor_customer_id = 'cus_new')`,
    );
    expect(known.rows).toEqual([{ customer_name: null, customer_email: null, customer_id: null }]);
  });

  test('a process of another mode is refused', async () => {
    await expect(forget(program(), HASH, EMAIL)).rejects.toMatchObject({ code: 'PERSONAL_DATA_MISMATCH' });
  });
});
