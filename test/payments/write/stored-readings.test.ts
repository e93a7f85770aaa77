// A cache in front of the program answers what the writer reads from its store: nothing is sent on it, and it ends no
// payment.

import { describe, expect, onTestFinished, test } from 'vitest';
import { startCachingProxy } from '../../support/caching-proxy.ts';
import { makeTestApi, PAID_AT, useWriter } from './start-writer.ts';

const writer = useWriter();

/** A payment that is asked for, and a writer behind a cache. */
async function askBehindCache() {
  const { fresh, ask, drain, db, sandbox, row, attempts, database } = writer();
  const proxy = await startCachingProxy(sandbox.url);
  const api = makeTestApi(db, proxy.url);
  onTestFinished(() => api.close());
  const { id } = await fresh();
  const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT, expected_unpaid: true });
  return {
    id,
    proxy,
    api,
    drain: () => drain({ api }),
    /** Ends the wait of the payment, and drains. */
    drainLater: async () => {
      await database.pool.query('update commission_updates set next_attempt_at = clock_timestamp()');
      await drain({ api });
    },
    row: () => row(asked?.id),
    tries: async () => (await attempts(asked?.id)).length,
  };
}

describe('a reading that is an hour old', () => {
  test('is no basis for a change: it waits at no cost, and then sees what another client made', async () => {
    const { id, proxy, api, drain, drainLater, row } = await askBehindCache();
    const theirs = '2026-09-01T08:00:00.000Z';
    await api.getCommission(id);
    await writer().api.putCommission(id, { paid_at: theirs });
    const puts = writer().received('PUT').length;
    proxy.age(3600);
    await drain();
    expect(await row()).toMatchObject({
      state: 'pending',
      attempts: 0,
      put_sent_at: null,
      last_error: expect.stringMatching(
        /a cache in front of the API, from its store: the answer is 36\d\d s older/,
      ),
    });
    proxy.clear();
    await drainLater();
    expect(await row()).toMatchObject({ state: 'conflict', before: { paid_at: expect.anything() } });
    expect(writer().received('PUT').length).toBe(puts);
    expect(await writer().program(id)).toMatchObject({ paid_at: theirs });
  });

  test('does not say that a commission is gone: the payment is made once it is read', async () => {
    const { id, proxy, drain, drainLater, row } = await askBehindCache();
    proxy.plant(`/v1/commissions/${id}`, 404, `{"error":"Commission not found: ${id}"}`);
    proxy.age(3600);
    await drain();
    expect(await row()).toMatchObject({ state: 'pending', attempts: 0 });
    proxy.clear();
    await drainLater();
    expect(await row()).toMatchObject({ state: 'applied', attempts: 0 });
  });
});

test('a refusal is not believed on the word of a list that is stored: the payment waits for a program that answers', async () => {
  const { id, proxy, api, row, tries } = await askBehindCache();
  await api.list('affiliates', { page: 1, limit: 1 });
  proxy.age(3600);
  proxy.plant(`/v1/commissions/${id}`, 404, `{"error":"Commission not found: ${id}"}`);
  const stop = new AbortController();
  const drained = writer().drain({ api, signal: stop.signal });
  // A refusal that is believed ends the payment by its second try.
  await expect.poll(tries).toBeGreaterThan(2);
  stop.abort(new Error('seen'));
  await expect(drained).rejects.toThrow('seen');
  expect(await row()).toMatchObject({ state: 'pending', attempts: 0 });
});
