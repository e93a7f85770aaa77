// Notifications arrive, also after the connection was lost, and no listening connection goes back to the pool.

import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../../src/db/database.ts';
import { listen } from '../../../src/db/locks/process-session.ts';
import { createTestDatabase } from '../../support/database.ts';

test('what is notified is heard, for this mirror alone, and again after the connection was lost', async () => {
  const { pool } = await createTestDatabase();
  let heard = 0;
  const over = new AbortController();
  const onNotified = () => {
    heard += 1;
  };
  const input = { channel: 'work_is_there', payload: 'mirror', onNotified };
  const listening = listen(makeDatabase(pool), input, over.signal);
  // Once for having connected: something may have been missed before.
  await expect.poll(() => heard).toBe(1);
  await pool.query(
    `select pg_notify('work_is_there', 'another_mirror'), pg_notify('work_is_there', 'mirror')`,
  );
  await expect.poll(() => heard).toBe(2);

  const { rowCount } = await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen work_is_there' and datname = current_database()`,
  );
  expect(rowCount).toBe(1);
  await expect.poll(() => heard).toBe(3);
  // Nothing of the connection that was lost waits for the end any more.
  expect(getEventListeners(over.signal, 'abort')).toHaveLength(1);
  await pool.query(`notify work_is_there, 'mirror'`);
  await expect.poll(() => heard).toBe(4);

  over.abort();
  await listening;
  const { rows } = await pool.query('select pg_listening_channels()');
  expect(rows).toEqual([]);
});
