// A program that refuses, for a while or for good: what it costs which request.

import { describe, expect, test } from 'vitest';
import { ApiUnauthorized } from '../../../src/base/errors.ts';
import { applyUpdates } from '../../../src/payments/write/apply-updates.ts';
import { losingProgram, makeAlteredApi, makeTestApi, silent, useWriter } from './start-writer.ts';

const writer = useWriter();

describe('a program that refuses', () => {
  test('the secret ends the drain before a second request is tried, and every row stays pending', async () => {
    const { freshMany, askToPay, row, sandbox, db, received, drain } = writer();
    const commissions = await freshMany(5);
    const asked = await askToPay(commissions);
    const api = makeTestApi(db, sandbox.url, { secret: 'wrong' });
    const drained = applyUpdates(
      { api, db, log: silent },
      { concurrency: 8, signal: AbortSignal.timeout(100_000) },
    );
    await expect(drained).rejects.toBeInstanceOf(ApiUnauthorized);
    await api.close();
    expect(received().length).toBe(1);
    for (const { id } of asked) {
      expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, claimed_by: null });
    }
    expect(await drain()).toMatchObject({ ended: { applied: 5 } });
  });

  test('everything with 404 because the address is wrong ends the drain, and fails no row', async () => {
    const { fresh, askToPay, row, sandbox, db, drain } = writer();
    const { id } = await fresh();
    const [asked] = await askToPay([{ id }]);
    const api = makeTestApi(db, `${sandbox.url}/elsewhere`);
    const drained = applyUpdates(
      { api, db, log: silent },
      { concurrency: 8, signal: AbortSignal.timeout(100_000) },
    );
    await expect(drained).rejects.toMatchObject({ code: 'API_REJECTED', status: 404 });
    await api.close();
    expect(await row(asked?.id)).toMatchObject({ state: 'pending', attempts: 0, claimed_by: null });
    await drain();
  });

  test('everything with 404 for a while, after it answered others, costs no row and deletes nothing', async () => {
    const { freshMany, askToPay, drain, row, sandbox, db, database } = writer();
    const commissions = await freshMany(6);
    const asked = await askToPay(commissions);
    const front = losingProgram(db, sandbox.url, { from: 7, to: 20 });
    const drained = await drain({ api: front.api });
    await front.close();
    expect(drained.ended).toEqual({ applied: 6 });
    for (const { id } of asked) expect(await row(id)).toMatchObject({ state: 'applied', attempts: 0 });
    const { rows } = await database.pool.query(
      'select from commissions where id = any($1) and _deleted_at is not null',
      [commissions.map(({ id }) => id)],
    );
    expect(rows).toEqual([]);
  });

  test('with 408, as a load balancer does that was passed a request too slowly, ends no payment', async () => {
    const { fresh, askToPay, drain, row, db, sandbox } = writer();
    const { id } = await fresh();
    const [asked] = await askToPay([{ id }]);
    let answers = 0;
    // The first is to the read; the third to the change, which the program has made.
    const api = await makeAlteredApi({ db, sandbox }, (body) => {
      answers += 1;
      return answers === 1 || answers === 3 ? { status: 408, body: 'Request Timeout' } : body;
    });
    const { ended } = await drain({ api, concurrency: 1 });
    expect(ended).toEqual({ applied: 1 });
    expect(await row(asked?.id)).toMatchObject({ attempts: 0 });
    expect(answers).toBe(4);
  });

  test('a change with 422 ends that request as rejected, and the mirror keeps the commission', async () => {
    const { fresh, askToPay, row, db, sandbox, database } = writer();
    const { id } = await fresh();
    const [asked] = await askToPay([{ id }]);
    let answers = 0;
    const api = await makeAlteredApi({ db, sandbox }, (body) => {
      answers += 1;
      return answers === 2 ? { status: 422, body: '{"error":"Could not update commission"}' } : body;
    });
    await writer().drain({ api, concurrency: 1 });
    expect(await row(asked?.id)).toMatchObject({ state: 'rejected' });
    const mirrored = await database.pool.query('select _deleted_at from commissions where id = $1', [id]);
    expect(mirrored.rows).toEqual([{ _deleted_at: null }]);
  });

  test.each([
    ['5xx', 3, 60],
    ['429', 2, 15],
  ] as const)('everything with %s for a while costs no row', async (kind, after, times) => {
    const { freshMany, askToPay, drain, row, sandbox } = writer();
    const asked = await askToPay(await freshMany(6));
    sandbox.setFaults({ shares: {}, exact: [{ kind, after, times }] });
    expect(await drain()).toMatchObject({ ended: { applied: 6 } });
    // A try that fails just before the program is back may count: one of twelve.
    const most = kind === '429' ? 0 : 1;
    for (const { id } of asked) expect((await row(id)).attempts).toBeLessThanOrEqual(most);
  });

  test('one commission again and again ends that request as failed, and no other', async () => {
    const { freshMany, askToPay, drain, row, sandbox, received } = writer();
    const commissions = await freshMany(4);
    const poisoned = commissions[1]?.id ?? '';
    const asked = await askToPay(commissions);
    sandbox.setFaults({
      shares: {},
      exact: [{ kind: '5xx', times: 1_000_000, route: `/v1/commissions/${poisoned}` }],
    });
    // Each further try is due only after a wait.
    let failed = 0;
    while (failed === 0) failed = (await drain()).ended.failed ?? 0;
    const states = await Promise.all(asked.map(async ({ id }) => (await row(id)).state));
    expect(states).toEqual(['applied', 'failed', 'applied', 'applied']);
    const { outcome, last_error, attempts } = await row(asked[1]?.id);
    expect(outcome).toContain('given up after 12 tries, while the API answered others');
    expect(last_error).toContain('the API failed on GET');
    expect(attempts).toBe(12);
    expect(received('PUT').length).toBe(3);
  });
});
