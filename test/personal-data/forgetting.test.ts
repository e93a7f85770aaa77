// A person who is forgotten: gone from every table, kept out of what later syncs bring, and no money is touched.

import { beforeAll, describe, expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import { adoptMode } from '../../src/personal-data/adopt-mode.ts';
import { type Forgetting, forgetPerson } from '../../src/personal-data/forget-person.ts';
import { PERSONAL_COLUMNS } from '../../src/personal-data/personal-columns.ts';
import { vacuum } from '../../src/personal-data/rewriting.ts';
import { findText, HASH, OMIT, PLAIN, useMarkedProgram } from './marked-program.ts';

const EMAIL = 'wilhelmina.quince@people.example';
const NAME = 'Wilhelmina Quince';
/** Whatever says who it is, or was. */
const TRACES = ['wilhelmina', 'quince', 'w-payout@people.example'];

type Program = ReturnType<ReturnType<typeof useMarkedProgram>>;

/** Makes one affiliate the person, who is also the customer of somebody else's referral, and returns both. */
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
  if (made === undefined) throw new Error('nobody was made');
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
      kept: [],
    });
    expect(Object.fromEntries(first.counts)).toMatchObject({
      affiliates: 1,
      referrals: expect.any(Number),
      rejected_records: expect.any(Number),
      commission_updates: 1,
    });
  });

  test('done again, it finds nothing left, under the same number', async () => {
    const again = await forget(program(), PLAIN, EMAIL);
    expect(again).toMatchObject({ number: 1, forgottenAt: first.forgottenAt, records: first.records });
    expect([...again.counts]).toEqual([]);
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

  test('of the person, every personal column is empty', async () => {
    const { database } = program();
    for (const [table, columns] of Object.entries(PERSONAL_COLUMNS)) {
      const kept = Object.entries(columns).filter(([, kind]) => kind !== 'figures' && kind !== 'coupon');
      if (kept.length === 0) continue;
      const { rows } = await database.pool.query(
        `select num_nonnulls(${kept.map(([column]) => column).join()}) as left from ${table}
         where id in (select record_id from forgotten_records where table_name = '${table}')`,
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(new Set(rows.map(({ left }) => left))).toEqual(new Set([0]));
    }
  });

  test('a longer address is left alone, and so is who asked', async () => {
    const { database } = program();
    await database.pool.query(`
      insert into commission_updates (commission_id, action, requested_by, batch_id, reason)
        select id, 'unpay', 'ann@people.example', 'for ann@people.example', 'joann@people.example, Ann@people.example; ann@people.example.au'
        from commissions order by id limit 1`);
    const { kept } = await forget(program(), PLAIN, 'ann@people.example');
    expect(kept).toEqual([{ table: 'commission_updates', column: 'requested_by', rows: 1 }]);
    const { rows } = await database.pool.query(
      `select batch_id, reason from commission_updates order by id desc limit 1`,
    );
    expect(rows).toEqual([
      {
        batch_id: 'for [forgotten]',
        reason: 'joann@people.example, [forgotten]; ann@people.example.au',
      },
    ]);
  });

  test('what is neither an address nor an identifier that is known is refused', async () => {
    await expect(forget(program(), PLAIN, 'Quince')).rejects.toThrow(
      'Quince is neither an e-mail address nor',
    );
    await expect(forget(program(), PLAIN, '00000000-0000-4000-8000-000000000009')).rejects.toThrow(
      'nor the identifier of an affiliate, a referral or a customer in the mirror',
    );
    await expect(forget(program(), HASH, EMAIL)).rejects.toMatchObject({ code: 'PERSONAL_DATA_MISMATCH' });
  });
});

describe.each([HASH, OMIT])('in mode $mode', (settings) => {
  const program = useMarkedProgram();

  test('an identifier takes out even the hashes of the person, and later syncs bring none', async () => {
    const { db, syncAll, database } = program();
    await adoptMode(db, settings);
    const { affiliate, referral } = await makePerson(program());
    await syncAll(settings);
    const hashes = await database.pool.query<{ hash: string }>(
      `select unnest(array[first_name, last_name, email, payout_email]) as hash from affiliates where id = $1`,
      [affiliate],
    );
    const before = await money(program());
    const forgotten = await forget(program(), settings, affiliate.toUpperCase());
    // In mode omit nothing says that the customer is the same person.
    const isHash = settings.mode === 'hash';
    expect(forgotten.records).toMatchObject({ affiliates: 1, referrals: isHash ? 1 : 0 });
    if (!isHash) await forget(program(), settings, EMAIL);
    expect(await money(program())).toEqual(before);
    await makePerson(program());
    await syncAll(settings);
    await vacuum(db);
    expect(hashes.rows.filter(({ hash }) => hash !== null)).toHaveLength(isHash ? 4 : 0);
    for (const { hash } of hashes.rows) {
      if (hash !== null) expect(await findText(database, hash)).toEqual([]);
    }
    const left = await database.pool.query(
      `select customer_id, customer_email from referrals where id = $1`,
      [referral],
    );
    expect(left.rows).toEqual([{ customer_id: isHash ? null : expect.any(String), customer_email: null }]);
    expect(await traces(program())).toEqual([]);
  });
});
