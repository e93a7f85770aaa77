// Who steps back for whom: reads for a payment that waits, down to a floor; payments for nobody.

import { beforeEach, expect, test } from 'vitest';
import type { Priority } from '../../src/budget/waits.ts';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll, whyWait } from './budgeting.ts';

const { pool } = await createTestDatabase();

beforeEach(() => forgetAll(pool));

const take = (priority: Priority, requests: number) =>
  pool.query('select from take_permit($1, $2, 100, 0.2)', [priority, requests]);

test('reads of a limit so low that their share is less than one request go on one at a time', async () => {
  await pool.query(`update request_budget set payments_wait_until = now() + interval '1 minute'`);
  expect(await whyWait(pool, { requests: 4 })).toBeNull();
  await take('reads', 4);
  expect(await whyWait(pool, { requests: 4 })).toBe('payments');
  expect(await whyWait(pool, { requests: 4, priority: 'payments' })).toBeNull();
});

test('a read that waits makes no other read step back', async () => {
  await take('reads', 1);
  await take('reads', 1);
  expect(await whyWait(pool, { requests: 1 })).toBe('window');
  expect(await whyWait(pool, { requests: 4 })).toBeNull();
});

test('a payment that no longer waits is forgotten within a second', async () => {
  await take('payments', 1);
  await take('payments', 1);
  const { rows } = await pool.query(
    `select payments_wait_until <= clock_timestamp() + interval '1 second' as is_soon from request_budget`,
  );
  expect(rows).toEqual([{ is_soon: true }]);
});
