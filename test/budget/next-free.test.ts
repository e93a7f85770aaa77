// What a person who watches learns of a wait for the budget.

import { beforeEach, expect, test } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { BudgetWait } from '../../src/budget/waits.ts';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll, SILENT } from './budgeting.ts';

const { db, pool } = await createTestDatabase();

beforeEach(() => forgetAll(pool));

/** Returns the first wait that is reported, after so many requests were answered. */
async function firstWait(answered: number, requests: number): Promise<BudgetWait> {
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<BudgetWait>();
  const take = makeTakePermit(
    { db, log: makeLogger('fatal'), onWait: resolve },
    { rateLimit: { requests, windowSeconds: 3600 }, priority: 'reads', requestTimeoutMs: 1000 },
  );
  for (let count = 0; count < answered; count += 1) await (await take()).returnAnswered(SILENT);
  const taking = take(over.signal);
  const wait = await promise;
  over.abort(new Error('seen enough'));
  await expect(taking).rejects.toThrow('seen enough');
  return wait;
}

const permit = (granted: string, returned: string, expires: string) =>
  `insert into request_permits (priority, granted_at, returned_at, expires_at)
   values ('reads', now() + ${granted}::interval, now() + ${returned}::interval, now() + ${expires}::interval)`;
const budget = (set: string) => `update request_budget set ${set}`;
const FOUR_MINUTES = `now() + interval '4 minutes'`;

test.each([
  ['a full window: until its first request leaves it', '', 1, 1, 'window', 3600],
  ['beside permits that are over', permit(`'-50 s'`, `'-40 s'`, `'-30 s'`), 1, 1, 'window', 3600],
  [
    'beside requests of others that are over',
    budget(`foreign_requests = 1, foreign_until = now()`),
    1,
    1,
    'window',
    3600,
  ],
  [
    'filled by others: until their requests have left it',
    budget(`foreign_requests = 1, foreign_until = ${FOUR_MINUTES}`),
    0,
    1,
    'window',
    240,
  ],
  [
    'of which others have none',
    budget(`foreign_requests = 0, foreign_until = ${FOUR_MINUTES}`),
    1,
    1,
    'window',
    3600,
  ],
  ['of requests in flight: not known', permit(`'0 s'`, 'null', `'1 hour'`), 0, 1, 'window', null],
  [
    'a payment that goes first: not known',
    budget(`payments_wait_until = ${FOUR_MINUTES}`),
    1,
    5,
    'payments',
    null,
  ],
  ['a pause: until its end', budget(`paused_until = ${FOUR_MINUTES}`), 0, 1, 'pause', 240],
] as const)('%s', async (_, sql, answered, requests, reason, seconds) => {
  if (sql !== '') await pool.query(sql);
  const wait = await firstWait(answered, requests);
  expect(wait.reason).toBe(reason);
  if (seconds === null) expect(wait.goesOnInMs).toBeNull();
  else expect(Math.ceil((wait.goesOnInMs ?? 0) / 60_000)).toBe(seconds / 60);
});
