// The lock of loads is taken from a process that was stopped while it holds it, wherever in a statement that was.

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { lockForLoading } from '../../src/mirror/load-batch.ts';
import { createTestDatabase } from '../support/database.ts';
import { sendHalfOfStatement } from '../support/half-message.ts';

const database = await createTestDatabase();
const db = makeDatabase(database.pool);
const ALONE = { isAlone: true, runId: null };

test('a load that was only partly sent when its process stopped keeps others waiting for seconds, not forever', async () => {
  const stopped = await database.pool.connect();
  await stopped.query('begin');
  await stopped.query('select lock_for_loading(true)');
  const closed = sendHalfOfStatement(stopped);

  await transact(db, (trx) => lockForLoading(trx, ALONE));
  await closed;
  stopped.release(true);
});

test('a load that works for long is waited for', async () => {
  const working = transact(db, async (trx) => {
    await lockForLoading(trx, ALONE);
    await sql`select pg_sleep(7)`.execute(trx);
    return 'done';
  });
  await sleep(100);
  await transact(db, (trx) => lockForLoading(trx, ALONE));
  expect(await working).toBe('done');
});
