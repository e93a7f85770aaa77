// A person is forgotten in what the payment ledger says, column by column; what it refuses it refuses afterwards, too.

import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findText, PLAIN } from './marked-program.ts';

const EMAIL = 'maria@people.example';
const COMMISSION = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

let database: TestDatabase;
let pool: pg.Pool;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  ({ pool } = database);
  db = makeDatabase(pool);
});

const forget = () => forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });

async function ask(columns: string, values: string): Promise<void> {
  await pool.query(
    `insert into commission_updates (commission_id, action, ${columns}) values ('${COMMISSION}', 'unpay', ${values})`,
  );
}

test('a person is forgotten in what people wrote, and in the reason of a refusal', async () => {
  await ask('reason, batch_id', `'asked by ${EMAIL}', 'payout of ${EMAIL}'`);
  await pool.query(`
    update commission_updates
    set state = 'rejected', finished_at = now(), outcome = 'rejected (422): no ${EMAIL}'`);
  const { counts } = await forget();
  expect([...counts]).toEqual([['commission_updates', 1]]);
  const { rows } = await pool.query('select reason, batch_id, outcome from commission_updates');
  expect(rows).toEqual([
    {
      reason: 'asked by [forgotten]',
      batch_id: 'payout of [forgotten]',
      outcome: 'rejected (422): no [forgotten]',
    },
  ]);
  expect(await findText(database, EMAIL)).toEqual([]);
});

test('what keeps a payment from being made twice stays, and the receipt names it', async () => {
  const values = ['key', 'finance'].map((word) => `'${word} of ${EMAIL}'`);
  await ask('batch_id, idempotency_key, requested_by', `'batch of ${EMAIL}', ${values.join()}`);
  const { kept } = await forget();
  expect(kept).toEqual(
    ['idempotency_key', 'requested_by'].map((column) => ({ table: 'commission_updates', column, rows: 1 })),
  );
  // The same request, in the batch of that name: it is recognised by its key.
  await ask('batch_id, idempotency_key, requested_by', `'batch of ${EMAIL}', ${values.join()}`);
  const { rows } = await pool.query('select batch_id from commission_updates');
  expect(rows).toEqual([{ batch_id: 'batch of [forgotten]' }]);
});

test('after a person was forgotten, the ledger refuses what it refused before', async () => {
  await ask('reason', `'asked by ${EMAIL}'`);
  await forget();
  await expect(pool.query(`update commission_updates set reason = 'another'`)).rejects.toThrow(
    'is part of the payment ledger: what was asked for is never edited',
  );
  await expect(pool.query('delete from commission_updates')).rejects.toThrow(
    'the payment ledger keeps every request',
  );
  await expect(
    pool.query(`insert into commission_updates (commission_id, action) values ('none', 'unpay')`),
  ).rejects.toThrow('is not the identifier of a commission');
});

test('after a person was forgotten, changes of the records are in the history again', async () => {
  await pool.query(`
    insert into campaigns (id, created_at, name, _first_seen_at, _changed_at, _observed_at)
    values ('some', now(), 'Friends', now(), now(), now())`);
  await forget();
  await pool.query(`update campaigns set name = 'Others'`);
  const { rows } = await pool.query('select before, after from record_history where before is not null');
  expect(rows).toEqual([{ before: { name: 'Friends' }, after: { name: 'Others' } }]);
});
