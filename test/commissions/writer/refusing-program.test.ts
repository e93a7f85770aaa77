// A program that refuses, for a while or for good: what it costs which request.

import { describe, expect, test } from 'vitest';
import { drainUpdates } from '../../../src/commissions/writer/drain-updates.ts';
import { ApiUnauthorized } from '../../../src/errors.ts';
import { losingProgram, makeAlteredApi, makeTestApi, PAID_AT, silent, useWriter } from './start-writer.ts';

const writer = useWriter();

describe('a program that refuses', () => {
  test('the secret ends the drain before a second request is tried, and every row stays pending', async () => {
    const { freshMany, ask, row, sandbox, db, received, drain } = writer();
    const commissions = await freshMany(5);
    const asked = await ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
    const api = makeTestApi(db, sandbox.url, { secret: 'wrong' });
    const drained = drainUpdates(
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
    const { fresh, ask, row, sandbox, db, drain } = writer();
    const { id } = await fresh();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    const api = makeTestApi(db, `${sandbox.url}/elsewhere`);
    const drained = drainUpdates(
      { api, db, log: silent },
      { concurrency: 8, signal: AbortSignal.timeout(100_000) },
    );
    await expect(drained).rejects.toMatchObject({ code: 'API_REJECTED', status: 404 });
    await api.close();
    expect(await row(asked?.id)).toMatchObject({ state: 'pending', attempts: 0, claimed_by: null });
    await drain();
  });

  test('everything with 404 for a while, after it answered others, costs no row and deletes nothing', async () => {
    const { freshMany, ask, drain, row, sandbox, db, database } = writer();
    const commissions = await freshMany(6);
    const asked = await ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
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
    const { fresh, ask, drain, row, db, sandbox } = writer();
    const { id } = await fresh();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
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

  test('one commission with 404 is asked for one thing more at most', async () => {
    const { freshMany, ask, drain, sandbox, received } = writer();
    const commissions = await freshMany(6);
    for (const { id } of commissions.slice(2, 4)) await sandbox.program.deleteCommission(id);
    await ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
    expect(await drain()).toMatchObject({ ended: { applied: 4, not_found: 2 } });
    expect(received().length).toBeLessThanOrEqual(6 + 4 + 2);
  });

  test('a change with 422 ends that request as rejected, and the mirror keeps the commission', async () => {
    const { fresh, ask, row, db, sandbox, database } = writer();
    const { id } = await fresh();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    let answers = 0;
    const api = await makeAlteredApi({ db, sandbox }, (body) => {
      answers += 1;
      return answers === 2 ? { status: 422, body: '{"error":"Could not update commission"}' } : body;
    });
    await drainUpdates({ api, db, log: silent }, { concurrency: 1, signal: AbortSignal.timeout(100_000) });
    expect(await row(asked?.id)).toMatchObject({ state: 'rejected' });
    const mirrored = await database.pool.query('select _deleted_at from commissions where id = $1', [id]);
    expect(mirrored.rows).toEqual([{ _deleted_at: null }]);
  });

  test('everything for a while costs no row', async () => {
    const { freshMany, ask, drain, row, sandbox } = writer();
    const commissions = await freshMany(6);
    const asked = await ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
    sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', after: 3, times: 60 }] });
    expect(await drain()).toMatchObject({ ended: { applied: 6 } });
    // A try that fails just before the program is back may count: one of twelve.
    for (const { id } of asked) expect((await row(id)).attempts).toBeLessThanOrEqual(1);
  });

  test('one commission again and again ends that request as failed, and no other', async () => {
    const { freshMany, ask, drain, row, sandbox, received } = writer();
    const commissions = await freshMany(4);
    const poisoned = commissions[1]?.id ?? '';
    const asked = await ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
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
    expect(outcome).toContain('given up after 12 tries, while the program answered others');
    expect(last_error).toContain('the program failed on GET');
    expect(attempts).toBe(12);
    expect(received('PUT').length).toBe(3);
  });

  test('with 429 costs no row an attempt', async () => {
    const { freshMany, ask, drain, row, sandbox } = writer();
    const commissions = await freshMany(3);
    const asked = await ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
    sandbox.setFaults({ shares: {}, exact: [{ kind: '429', after: 2, times: 15 }] });
    expect(await drain()).toMatchObject({ ended: { applied: 3 } });
    for (const { id } of asked) expect(await row(id)).toMatchObject({ attempts: 0, state: 'applied' });
  });
});
