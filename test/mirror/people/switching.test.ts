// A mirror that is switched from one mode to another: what it held of people is gone, the next full sync fills in, and
// in the modes hash and omit nothing that the program sent is stored, on whichever way it came.

import { createSecretKey } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../../src/config/program/personal-data.ts';
import { vacuum } from '../../../src/mirror/people/rewriting.ts';
import { switchMode } from '../../../src/mirror/people/switch-mode.ts';
import { findText, HASH, MARK, OMIT, PLAIN, useMarkedProgram } from './marked-program.ts';

const program = useMarkedProgram();
const OTHER_KEY: PersonalDataSettings = {
  mode: 'hash',
  key: createSecretKey(Buffer.alloc(32, 'another key ')),
};

beforeAll(async () => {
  const { database, syncAll, pay, change } = program();
  await syncAll(PLAIN);
  await pay(PLAIN);
  await change();
  // A customer who is an affiliate too, and spells the address otherwise.
  await database.pool.query(`
    update sandbox.referrals set customer_email =
      (select ' ' || upper(email) || ' ' from sandbox.affiliates order by id limit 1)
    where id = (select min(id) from sandbox.referrals where customer_email is not null)`);
  await syncAll(PLAIN, 'delta');
  await syncAll(PLAIN);
  await database.pool.query('analyze');
  expect(await findText(database, MARK)).toContain('record_history');
});

async function switchTo(settings: PersonalDataSettings): Promise<Record<string, number>> {
  const { db } = program();
  const { counts } = await switchMode(db, settings);
  await vacuum(db);
  return Object.fromEntries(counts);
}

async function count(query: string): Promise<number> {
  const { rows } = await program().database.pool.query<{ count: number }>(`select count(*) from ${query}`);
  return rows[0]?.count ?? 0;
}

const HASHED = `(select 'hmac:' as prefix) wanted
  join (select line::text as line from affiliates line union all select line::text from referrals line
        union all select line::text from links line union all select line::text from record_history line) stored
    on position(prefix in line) > 0`;

test('from plain to hash, no value is left; what is not personal stays, and the next full sync fills in hashes', async () => {
  const { database, db, syncAll, pay, change } = program();
  const history = await count('record_history');
  const moved = await database.pool.query('select max(_changed_at) as at from affiliates');
  const kept = async () =>
    (
      await database.pool.query(
        `select jsonb_agg(jsonb_build_array(id, visitors, leads, conversions, state) order by id) as affiliates,
           (select jsonb_agg(jsonb_build_array(id, processor_customer_id, customer_id, visits, conversion_state) order by id)
            from referrals) as referrals,
           (select jsonb_agg(to_jsonb(h) - 'before' - 'after' order by id) from record_history h) as history,
           (select jsonb_agg(u order by id) from commission_updates u) as payments
         from affiliates`,
      )
    ).rows;
  const before = await kept();
  expect(await switchTo(HASH)).toMatchObject({ affiliates: 12, referrals: expect.any(Number) });
  expect(await findText(database, MARK)).toEqual([]);
  expect(await kept()).toEqual(before);
  // The switch is no change of the records, but whoever loads by _changed_at sees it.
  expect(await count('record_history')).toBe(history);
  expect(await count(`affiliates where _changed_at <= '${moved.rows[0].at}'`)).toBe(0);
  await expect(syncAll(PLAIN)).rejects.toThrow(
    'this mirror keeps personal data as hash, and PII is plain here: set PII=hash, or run affiliate-mirror personal-data switch',
  );
  await syncAll(HASH);
  expect(await count(`affiliates where email !~ '^hmac:[0-9a-f]{64}$'`)).toBe(0);
  // Of one affiliate the program sends no address; the customer's is one with the affiliate's, however it is spelled.
  expect(await count('referrals join affiliates on customer_email = email')).toBe(1);
  await pay(HASH);
  await change();
  await syncAll(HASH, 'delta');
  await syncAll(HASH);
  const changes = await count('record_history');
  await syncAll(HASH);
  expect(await count('record_history')).toBe(changes);
  await database.pool.query('analyze');
  expect(await findText(database, MARK)).toEqual([]);
  expect(await switchMode(db, HASH)).toMatchObject({ isChanged: false, from: 'hash', to: 'hash' });
});

test('to another key, no hash of the former one is left, and the next full sync fills in new ones', async () => {
  const { syncAll } = program();
  await switchTo(OTHER_KEY);
  expect(await count(HASHED)).toBe(0);
  await expect(syncAll(HASH)).rejects.toThrow('the key in PII_KEY_FILE is not the one');
  await syncAll(OTHER_KEY);
  expect(await count(HASHED)).toBeGreaterThan(0);
});

test('to omit, no hash is left; back to plain, the next full sync fills in what the API has', async () => {
  const { database, syncAll, pay, change } = program();
  await switchTo(OMIT);
  expect(await count(HASHED)).toBe(0);
  await syncAll(OMIT);
  await pay(OMIT);
  await change();
  await syncAll(OMIT);
  expect(await findText(database, MARK)).toEqual([]);
  await switchTo(PLAIN);
  expect(await count('affiliates where email is not null')).toBe(0);
  await syncAll(PLAIN);
  expect(await count('affiliates where email is null')).toBeLessThan(2);
  expect(await findText(database, MARK)).toContain('referrals');
  await switchTo(OMIT);
  expect(await findText(database, MARK)).toEqual([]);
});
