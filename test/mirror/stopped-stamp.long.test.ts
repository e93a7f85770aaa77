// A transaction that has its stamp and does not end: others wait for it, but not forever.

import { test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { buildCommission } from './build-records.ts';
import { at, load } from './load.ts';

const database = await createTestDatabase();
const { db } = database;

test('a process that was stopped between its stamp and its commit keeps others waiting for seconds, not forever', async () => {
  const idle = await database.pool.connect();
  idle.on('error', () => undefined);
  await idle.query('begin');
  await idle.query('select stamp_changes()');
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records: [buildCommission()] }] });
  idle.release(true);
});
