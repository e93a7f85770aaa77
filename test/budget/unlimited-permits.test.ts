// Permits where no limit is kept: when the database is asked again, and on which side the estimated times lie.

import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { TakePermit } from '../../src/api/permit.ts';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { Priority } from '../../src/budget/waits.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import type { Tables } from '../../src/db/tables.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll, SILENT } from './budgeting.ts';

const { db, pool } = await createTestDatabase();
/** Far longer than a statement takes. */
const LONG_MS = 300;

beforeEach(() => forgetAll(pool));

const takes = (priority: Priority, own: Database = db): TakePermit =>
  makeTakePermit(
    { db: own, log: makeLogger('fatal') },
    { rateLimit: null, priority, requestTimeoutMs: 1000 },
  );

async function readClock(): Promise<string> {
  const { rows } = await pool.query<{ now: string }>('select clock_timestamp() as now');
  return rows[0]?.now ?? '';
}

test('a payment’s moments are read from the database, each time anew', async () => {
  let asked = 0;
  const counting = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: () => {
      asked += 1;
    },
  });
  const take = takes('payments', counting);
  for (let round = 1; round <= 3; round += 1) {
    const permit = await take();
    expect(asked).toBe(2 * round - 1);
    await permit.returnAnswered(SILENT);
    expect(asked).toBe(2 * round);
  }
});

describe('a read’s permit', () => {
  test('is not younger than it says, however long the question waited for its turn', async () => {
    const locking = await pool.connect();
    await locking.query('begin');
    await locking.query('lock request_budget');
    const taking = takes('reads')();
    await expect.poll(() => countWaiting(pool)).toBe(1);
    await sleep(LONG_MS);
    await locking.query('commit');
    locking.release();
    const { grantedAt } = await taking;
    expect(grantedAt < (await readClock())).toBe(true);
  });

  test('is answered no earlier than it says, however long the database’s word was on its way', async () => {
    // What is selected is worked out after the moment that comes with it.
    const { pool: slow } = await createTestDatabase();
    await slow.query(`
      alter table request_budget rename to budget_table;
      create view request_budget as
        select case when pg_sleep(${LONG_MS / 1000}) is not null then paused_until end as paused_until
        from budget_table`);
    const permit = await takes('reads', makeDatabase(slow))();
    const before = await readClock();
    const answeredAt = await permit.returnAnswered(SILENT);
    expect(answeredAt > before).toBe(true);
  });
});

/** Returns whether the next permit is granted; where everybody pauses it is not waited for. */
async function isGranted(take: TakePermit): Promise<boolean> {
  const giveUp = new AbortController();
  const taking = take(giveUp.signal);
  giveUp.abort();
  return await taking.then(
    () => true,
    () => false,
  );
}

test('a pause that another process notes is noticed soon, also where the database was just asked', async () => {
  const take = takes('reads');
  expect(await isGranted(take)).toBe(true);
  await pool.query(`update request_budget set paused_until = clock_timestamp() + interval '4 minutes'`);
  await expect.poll(() => isGranted(take)).toBe(false);
});

describe('a 429', () => {
  test.each(['reads', 'payments'] as const)('pauses the next of its own %s at once', async (priority) => {
    const take = takes(priority);
    const permit = await take();
    await permit.returnAnswered({ ...SILENT, throttled: true, resetMs: 60_000 });
    expect(await isGranted(take)).toBe(false);
  });

  test('that names no time pauses everybody for half a minute', async () => {
    const permit = await takes('reads')();
    await permit.returnAnswered({ ...SILENT, throttled: true });
    const { rows } = await pool.query(
      'select extract(epoch from paused_until - last_throttled_at)::int as seconds from request_budget',
    );
    expect(rows).toEqual([{ seconds: 30 }]);
  });
});

test('a question that failed is asked again', async () => {
  const take = takes('payments');
  await pool.query('alter table request_budget rename to away');
  await expect(take()).rejects.toThrow('request_budget');
  await pool.query('alter table away rename to request_budget');
  await take();
});
