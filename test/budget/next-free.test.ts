// What a person who watches learns of a wait for the budget.

import { beforeEach, expect, test } from 'vitest';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { BudgetWait } from '../../src/budget/waits.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makeLogger } from '../../src/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll, SILENT } from './budgeting.ts';

const database = await createTestDatabase();
const db = makeDatabase(database.pool);

beforeEach(() => forgetAll(database.pool));

/** Returns the first wait that is reported, after so many requests were answered. */
async function firstWait(answered: number, windowSeconds: number, requests = 1): Promise<BudgetWait> {
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<BudgetWait>();
  const take = makeTakePermit(
    { db, log: makeLogger('fatal'), onWait: resolve },
    { rateLimit: { requests, windowSeconds }, priority: 'reads', requestTimeoutMs: 1000 },
  );
  for (let count = 0; count < answered; count += 1) await (await take()).returnAnswered(SILENT);
  const taking = take(over.signal);
  const wait = await promise;
  over.abort(new Error('seen enough'));
  await expect(taking).rejects.toThrow('seen enough');
  return wait;
}

test('a full window: how long until its first request leaves it', async () => {
  const { reason, goesOnInMs } = await firstWait(1, 3600);
  expect(reason).toBe('window');
  expect(goesOnInMs).toBeGreaterThan(3_500_000);
  expect(goesOnInMs).toBeLessThanOrEqual(3_600_000);
});

test('a full window, after others that are over: until its own first request leaves it', async () => {
  await database.pool.query(
    `insert into request_permits (priority, granted_at, returned_at, expires_at)
     values ('reads', now() - interval '50 seconds', now() - interval '40 seconds', now() - interval '30 seconds')`,
  );
  await database.pool.query(
    `update request_budget set foreign_requests = 1, foreign_until = now() - interval '30 seconds'`,
  );
  const { goesOnInMs } = await firstWait(1, 3600);
  expect(goesOnInMs).toBeGreaterThan(3_500_000);
});

test('a window that somebody else on the account has filled: until their requests have left it', async () => {
  await database.pool.query(
    `update request_budget set foreign_requests = 1, foreign_until = now() + interval '4 minutes'`,
  );
  const { reason, goesOnInMs } = await firstWait(0, 3600);
  expect(reason).toBe('window');
  expect(goesOnInMs).toBeGreaterThan(200_000);
  expect(goesOnInMs).toBeLessThanOrEqual(240_000);
});

test('a full window, where nobody else on the account has any request left in it: until its own first leaves it', async () => {
  await database.pool.query(
    `update request_budget set foreign_requests = 0, foreign_until = now() + interval '4 minutes'`,
  );
  const { goesOnInMs } = await firstWait(1, 3600);
  expect(goesOnInMs).toBeGreaterThan(3_500_000);
});

test('a full window of requests in flight: nobody knows', async () => {
  await database.pool.query(
    `insert into request_permits (priority, granted_at, expires_at) values ('reads', now(), now() + interval '1 hour')`,
  );
  expect(await firstWait(0, 3600)).toEqual({ reason: 'window', goesOnInMs: null });
});

test('a payment that goes first: nobody knows, whatever leaves the window when', async () => {
  await database.pool.query(`update request_budget set payments_wait_until = now() + interval '4 minutes'`);
  expect(await firstWait(1, 3600, 5)).toEqual({ reason: 'payments', goesOnInMs: null });
});

test('a pause that the program asked for: until its end', async () => {
  await database.pool.query(`update request_budget set paused_until = now() + interval '4 minutes'`);
  const { reason, goesOnInMs } = await firstWait(0, 60);
  expect(reason).toBe('pause');
  expect(goesOnInMs).toBeGreaterThan(200_000);
});
