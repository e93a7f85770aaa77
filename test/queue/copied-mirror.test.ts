// A mirror that was copied, for staging say, and whose workers use the same Redis as the original's.

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';
import { openQueue } from '../../src/queue/backend.ts';
import { readQueueId } from '../../src/queue/worker-state.ts';
import { createTestDatabase } from '../support/database.ts';
import { startRedis } from '../support/redis.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const name = () => `copied_${randomBytes(6).toString('hex')}`;

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('testPostgres').url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

function open(url: string) {
  const pool = makePool(
    { log: makeLogger('fatal') },
    { url, schema: 'mirror', max: 2, applicationName: 'test' },
  );
  closers.push(() => pool.end());
  return { pool, db: makeDatabase(pool), url };
}

/** Returns a mirror, and a copy of it: `create database … template`. */
async function copyMirror() {
  const { url, drop } = await createTestDatabase();
  const copied = new URL(url);
  copied.pathname = `/${name()}`;
  // No connection to it may be open meanwhile.
  await drop();
  await asAdmin(`create database ${copied.pathname.slice(1)} template ${new URL(url).pathname.slice(1)}`);
  closers.push(() => asAdmin(`drop database ${copied.pathname.slice(1)} with (force)`));
  return [open(url), open(copied.href)] as const;
}

test('a copy has a queue of its own in the same Redis: nobody takes the jobs of the other', async () => {
  const redis = await startRedis();
  const mirrors = await copyMirror();
  const rows = await Promise.all(mirrors.map(({ pool }) => pool.query('select queue_id from worker_state')));
  expect(rows[0]?.rows).toEqual(rows[1]?.rows);
  const [original, copy] = await Promise.all(
    mirrors.map(async ({ db, url }) => {
      const settings = { redisUrl: redis.url, databaseUrl: url, mirrorSchema: 'mirror' };
      const backend = await openQueue({ log: makeLogger('fatal') }, settings, await readQueueId(db));
      closers.push(() => backend.close());
      return backend;
    }),
  );
  await original?.queue.add('sync', {}, { jobId: 'due' });
  expect(await original?.queue.getJobCountByTypes('waiting')).toBe(1);
  expect(await copy?.queue.getJobCountByTypes('waiting')).toBe(0);
});

test("the queue of a mirror stays the same, also where the role may not read the server's number", async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  const [first, second] = [await readQueueId(db), await readQueueId(db)];
  expect(second).toBe(first);

  const role = name();
  await pool.query(`create role ${role}; grant usage on schema mirror to ${role};
    grant select on mirror.worker_state to ${role}; revoke execute on function pg_control_system() from public`);
  closers.push(() =>
    pool.query(`grant execute on function pg_control_system() to public;
    drop owned by ${role}; drop role ${role}`),
  );
  await db.connection().execute(async (connection) => {
    await sql`set role ${sql.ref(role)}`.execute(connection);
    const [without, again] = [await readQueueId(connection), await readQueueId(connection)];
    await sql`reset role`.execute(connection);
    expect(without).toBe(again);
    expect(without).not.toBe(first);
  });
});
