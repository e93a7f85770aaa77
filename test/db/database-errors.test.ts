import { expect, test } from 'vitest';
import { DatabaseUnreachable } from '../../src/base/errors.ts';
import { asDatabaseError } from '../../src/db/database-errors.ts';
import { createTestDatabase } from '../support/database.ts';

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return asDatabaseError(error);
  }
  throw new Error('nothing failed');
}

test('a connection that the server ends is unreachable, both at once and for the statement after it', async () => {
  const { pool } = await createTestDatabase();
  const client = await pool.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const running = failureOf(() => client.query('select pg_sleep(60)'));
  await pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
  expect(await running).toBeInstanceOf(DatabaseUnreachable);
  expect(await failureOf(() => client.query('select 1'))).toBeInstanceOf(DatabaseUnreachable);
  client.release(true);
});

test.each(['EAI_AGAIN', 'ENETUNREACH', 'EHOSTDOWN', 'ECONNABORTED'])(
  'a server that the network keeps from us is unreachable: %s',
  async (code) => {
    // Outages that cannot be had here: these are the errors that Node throws in them.
    const fail = async () => {
      throw Object.assign(new Error(`connect ${code}`), { code });
    };
    expect(await failureOf(fail)).toBeInstanceOf(DatabaseUnreachable);
  },
);

test('a statement that the database refuses is left as it is', async () => {
  const { pool } = await createTestDatabase();
  expect(await failureOf(() => pool.query('select nonsense'))).toHaveProperty('code', '42703');
});
