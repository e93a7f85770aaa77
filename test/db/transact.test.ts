// A transaction whose connection the server closed is done again; one that may have been committed is not.

import { sql } from 'kysely';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const { db } = database;
await database.pool.query('create table noted (attempt int)');

test('every connection gives up its transaction when its process is stopped for seconds', async () => {
  const { rows } = await database.pool.query('show idle_in_transaction_session_timeout');
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: '5s' }]);
});

test('a transaction that the server closed between two statements is done again, and counts once', async () => {
  let attempts = 0;
  await transact(db, async (trx) => {
    attempts += 1;
    await sql`insert into noted values (${attempts})`.execute(trx);
    if (attempts === 1) await waitUntilClosed(trx);
    await sql`select 1`.execute(trx);
  });
  expect((await database.pool.query('select attempt from noted')).rows).toEqual([{ attempt: 2 }]);
});

test('a transaction that meets a deadlock again and again ends with it', async () => {
  let attempts = 0;
  const work = async (trx: Database) => {
    attempts += 1;
    await sql`do $$ begin raise exception using errcode = '40P01'; end $$`.execute(trx);
  };
  await expect(transact(db, work)).rejects.toMatchObject({ code: '40P01' });
  expect(attempts).toBe(3);
});

test('what the work itself throws is thrown at once', async () => {
  let attempts = 0;
  const work = async () => {
    attempts += 1;
    throw new Error('its own');
  };
  await expect(transact(db, work)).rejects.toThrow('its own');
  expect(attempts).toBe(1);
});

test('a connection that is lost in the commit is not done again: it may have been committed', async () => {
  let attempts = 0;
  // A deferred trigger runs within the commit, and ends its own connection there.
  await database.pool.query(`
    create table fragile (id int);
    create function hang_up() returns trigger language plpgsql as
      'begin perform pg_terminate_backend(pg_backend_pid()); return null; end';
    create constraint trigger at_commit after insert on fragile deferrable initially deferred
      for each row execute function hang_up()`);
  const work = async (trx: Database) => {
    attempts += 1;
    await sql`insert into fragile values (1)`.execute(trx);
  };
  await expect(transact(db, work)).rejects.toThrow();
  expect(attempts).toBe(1);
});

async function waitUntilClosed(trx: Database): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
  await sql`set local idle_in_transaction_session_timeout = '10ms'`.execute(trx);
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await expect
    .poll(async () => {
      const left = await other.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid]);
      return left.rows.length;
    })
    .toBe(0);
  await other.end();
}
