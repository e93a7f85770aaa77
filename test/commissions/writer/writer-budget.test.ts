// The writer within the account's limit: 45 requests per 30 seconds, with the window scaled down to 0.6 seconds.

import { expect, test } from 'vitest';
import { makeApiClient } from '../../../src/api/client.ts';
import { makeTakePermit } from '../../../src/budget/shared-budget.ts';
import { drainConcurrency } from '../../../src/commissions/writer/drain-concurrency.ts';
import { drainUpdates } from '../../../src/commissions/writer/drain-updates.ts';
import { makeTestApi, PAID_AT, SECRET, silent, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 4_000 });
const WINDOW_MS = 600;
const RATE_LIMIT = { requests: 45, windowSeconds: WINDOW_MS / 1000 };

test('a waiting batch meets no 429, and does not stop the readers', async () => {
  const { freshMany, ask, db, sandbox, received } = writer();
  const commissions = await freshMany(150);
  await ask(
    ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
  );
  sandbox.setRateLimit(RATE_LIMIT);
  const takePermit = makeTakePermit(
    { db, log: silent },
    { rateLimit: RATE_LIMIT, priority: 'reads', requestTimeoutMs: 2000 },
  );
  const reader = makeApiClient(
    { takePermit, log: silent },
    { url: sandbox.url, secret: SECRET, timeoutMs: 2000 },
  );
  const api = makeTestApi(db, sandbox.url, { rateLimit: RATE_LIMIT });
  const stop = new AbortController();
  const reading = (async () => {
    for (let page = 1; !stop.signal.aborted; page += 1) {
      await reader.list('referrals', { page: (page % 8) + 1, limit: 100 }, { signal: stop.signal });
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  const drained = drainUpdates(
    { api, db, log: silent },
    { concurrency: drainConcurrency(RATE_LIMIT), signal: stop.signal },
  ).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await expect.poll(() => received().length, { interval: 20 }).toBeGreaterThan(4 * 45);
  stop.abort(new Error('enough'));
  await Promise.all([reading, drained]);
  await Promise.all([reader.close(), api.close()]);

  const requests = received();
  expect(requests.filter(({ status }) => status === 429)).toEqual([]);
  // How much of the limit is used is measured by the bench.
  expect(requests.some(({ method }) => method === 'PUT')).toBe(true);
  expect(requests.some(({ url }) => url.startsWith('/v1/referrals'))).toBe(true);
});
