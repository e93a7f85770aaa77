// The lock of loads is taken from a process that was stopped while it holds it, wherever in a statement that was.

import type { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { lockForLoading } from '../../src/mirror/loading-lock.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const db = makeDatabase(database.pool);
const ALONE = { isAlone: true, runId: null };

test('a load that was only partly sent when its process stopped keeps others waiting for seconds, not forever', async () => {
  const stopped = await database.pool.connect();
  await stopped.query('begin');
  await stopped.query('select lock_for_loading(true)');
  // What pg would send: the statement whole, and half of the message that follows it.
  const socket = (stopped as unknown as { connection: { stream: ReturnType<typeof connect> } }).connection
    .stream;
  const text = Buffer.from('\0select 1\0\0\0');
  const parse = Buffer.concat([Buffer.from('P'), lengthOf(text.length + 4), text]);
  const halfOfBind = Buffer.concat([Buffer.from('B'), lengthOf(1_000_000), Buffer.alloc(1000)]);
  const closed = new Promise((resolve) => stopped.once('end', resolve));
  stopped.on('error', () => {});
  socket.write(Buffer.concat([parse, halfOfBind]));

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

function lengthOf(bytes: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(bytes);
  return buffer;
}
