// Closing all connections of a pool at once, and what Postgres does then with what they waited for.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { makePool } from '../../../src/db/connect/pool.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { makeSockets } from '../../../src/db/connect/sockets.ts';
import { createTestDatabase } from '../../support/database.ts';

const NAME = 'sockets-test';

const database = await createTestDatabase();

const pools: Pool[] = [];
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())));

function open(url: string) {
  const sockets = makeSockets();
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const pool = makePool({ log, sockets }, { url, schema: 'mirror', max: 2, applicationName: NAME });
  pools.push(pool);
  return { pool, sockets, lines };
}

async function countWaiting(): Promise<number> {
  const { rowCount } = await database.pool.query(
    `select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`,
    [NAME],
  );
  return rowCount ?? 0;
}

test('a statement that waits for a lock ends at once, and does not go on waiting in Postgres', async () => {
  // Not a connection of ours, which does not idle in a transaction for long.
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin; lock table mirror.campaigns in access exclusive mode');
  const { pool, sockets, lines } = open(database.url);
  const waiting = pool.query('select from campaigns').catch((error: unknown) => error);
  await expect.poll(countWaiting).toBe(1);
  sockets.closeAll();
  expect(await waiting).toMatchObject({ message: 'Connection terminated unexpectedly' });
  // Whoever needs the table would wait behind it, long after its process is gone.
  await expect.poll(countWaiting).toBe(0);
  expect(lines).toEqual([]);
});

test('a connection that is made afterwards is closed as well', async () => {
  const { pool, sockets } = open(database.url);
  sockets.closeAll();
  await expect(pool.query('select 1')).rejects.toThrow('Connection terminated');
});

test('a connection that is being made to a silent server is given up', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const asked = once(silent, 'connection');
  const { pool, sockets } = open(`postgres://nobody@127.0.0.1:${port}/none`);
  const connecting = pool.connect().catch((error: unknown) => error);
  await asked;
  sockets.closeAll();
  expect(await connecting).toMatchObject({ message: expect.stringContaining('Connection terminated') });
  silent.close();
});
