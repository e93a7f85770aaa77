// A mirror that is rewritten from one mode to another: what is left of people, in its tables and in their files.

import { createSecretKey } from 'node:crypto';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { REWRITTEN_TABLES, vacuumFull } from '../../src/personal-data/vacuum.ts';
import { findInFiles, findText, HASH, MARK, OMIT, PLAIN, useMarkedProgram } from './marked-program.ts';

// Postgres keeps old rows while any transaction of the server is older than them.
const program = useMarkedProgram({ isAlone: true });
const OTHER_KEY: PersonalDataSettings = {
  mode: 'hash',
  key: createSecretKey(Buffer.alloc(32, 'another key ')),
};

beforeAll(async () => {
  const { database, syncAll, pay, change } = program();
  // A customer who is an affiliate too, and spells the address otherwise.
  await database.pool.query(`
    update sandbox.referrals set customer_email =
      (select ' ' || upper(email) || ' ' from sandbox.affiliates order by id limit 1)
    where id = (select min(id) from sandbox.referrals where customer_email is not null)`);
  await syncAll(PLAIN);
  await pay(PLAIN);
  await change();
  await syncAll(PLAIN, 'delta');
  await syncAll(PLAIN);
  await database.pool.query('analyze');
  expect(await findText(database, MARK)).toContain('record_history');
  expect(await findInFiles(database, MARK)).toContain('affiliates');
});

async function rewrite(settings: PersonalDataSettings): Promise<Record<string, number>> {
  const { db } = program();
  const { counts } = await switchMode(db, settings);
  await vacuumFull(db, REWRITTEN_TABLES);
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

test('from plain to hash, no value is left, equal ones stay equal, and the next sync changes nothing', async () => {
  const { database, db, syncAll } = program();
  const history = await count('record_history');
  const moved = await database.pool.query('select max(_changed_at) as at from affiliates');
  expect(await rewrite(HASH)).toMatchObject({ affiliates: 12, referrals: expect.any(Number) });
  expect(await findText(database, MARK)).toEqual([]);
  expect(await findInFiles(database, MARK)).toEqual([]);
  expect(await count(`affiliates where email !~ '^hmac:[0-9a-f]{64}$'`)).toBe(0);
  // The address of before the change: in the history of the affiliate and of the referral alike.
  expect(
    await count(
      `record_history a join record_history r on r.table_name = 'referrals'
         and r.before ->> 'customer_email' = a.before ->> 'email' where a.table_name = 'affiliates'`,
    ),
  ).toBe(1);
  // The rewriting is no change of the records, but whoever loads by _changed_at sees it.
  expect(await count('record_history')).toBe(history);
  expect(await count(`affiliates where _changed_at <= '${moved.rows[0].at}'`)).toBe(0);
  await syncAll(HASH);
  expect(await count('record_history')).toBe(history);
  expect(await findText(database, MARK)).toEqual([]);
  expect(await switchMode(db, HASH)).toMatchObject({ isChanged: false, from: 'hash', to: 'hash' });
});

test('to another key, no hash of the former one is left, and the next full sync fills in new ones', async () => {
  const { syncAll } = program();
  await rewrite(OTHER_KEY);
  expect(await count(HASHED)).toBe(0);
  await expect(syncAll(HASH)).rejects.toThrow('the key in PII_KEY_FILE is not the one');
  await syncAll(OTHER_KEY);
  expect(await count(HASHED)).toBeGreaterThan(0);
});

test('from hash to omit, no hash is left', async () => {
  const { database } = program();
  await rewrite(OMIT);
  expect(await count(HASHED)).toBe(0);
  expect(await findInFiles(database, 'hmac:')).toEqual([]);
});

test('back to plain, the next full sync fills in what the program has; from there to omit, nothing is left', async () => {
  const { database, syncAll } = program();
  await rewrite(PLAIN);
  expect(await count('affiliates where email is not null')).toBe(0);
  await syncAll(PLAIN);
  expect(await count('affiliates where email is null')).toBe(0);
  expect(await findText(database, MARK)).toContain('referrals');
  await rewrite(OMIT);
  expect(await findText(database, MARK)).toEqual([]);
  expect(await findInFiles(database, MARK)).toEqual([]);
  await syncAll(OMIT);
  expect(await findText(database, MARK)).toEqual([]);
});

test('old rows that a transaction may still read are not said to be gone; once it has ended, they are', async () => {
  const { database, syncAll, db } = program();
  await rewrite(PLAIN);
  await syncAll(PLAIN);
  const reader = await database.pool.connect();
  await reader.query('begin isolation level repeatable read');
  await reader.query('select 1');
  await switchMode(db, OMIT);
  await expect(vacuumFull(db, REWRITTEN_TABLES, { patienceMs: 0 })).rejects.toThrow(
    'may still read the old rows',
  );
  const written = vacuumFull(db, REWRITTEN_TABLES);
  await reader.query('rollback');
  await written;
  reader.release();
  expect(await findInFiles(database, MARK)).toEqual([]);
});

test('a reader in another database of the server is not waited for', async () => {
  const { database, db } = program();
  const other = new pg.Client({
    connectionString: Object.assign(new URL(database.url), { pathname: '/postgres' }).href,
  });
  await other.connect();
  await other.query('begin isolation level repeatable read');
  await other.query('select 1');
  await vacuumFull(db, ['campaigns'], { patienceMs: 0 });
  await other.end();
});

test('to write the tables anew can be stopped between two of them', async () => {
  const { database, db } = program();
  const fileOf = async () =>
    (await database.pool.query(`select pg_relation_filenode('mirror.campaigns') as file`)).rows;
  const before = await fileOf();
  const signal = AbortSignal.abort(new Error('the command stops'));
  await expect(vacuumFull(db, ['campaigns'], { signal })).rejects.toThrow('the command stops');
  expect(await fileOf()).toEqual(before);
});
