// What becomes of a request: each terminal state, through every kind of failure, with its line in the payment ledger.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { awaitUpdates } from '../../../src/commissions/writer/await-updates.ts';
import { drainUpdates } from '../../../src/commissions/writer/drain-updates.ts';
import { formatMoney } from '../../../src/contract/money.ts';
import { ApiUnauthorized, DatabaseUnreachable } from '../../../src/errors.ts';
import { losingProgram, makeAlteredApi, makeTestApi, PAID_AT, silent, useWriter } from './start-writer.ts';

const writer = useWriter();

describe('a request', () => {
  test('to pay ends as applied, with what was there before, and the mirror shows it', async () => {
    const { fresh, ask, drain, row, program, attempts, database } = writer();
    const { id, amount, currency } = await fresh();
    const [asked] = await ask({
      commission_id: id,
      action: 'pay',
      paid_at: PAID_AT,
      reason: 'October payout',
    });

    expect(await drain()).toEqual({ ended: { applied: 1 }, deferred: 0 });

    expect(await row(asked?.id)).toMatchObject({
      state: 'applied',
      outcome: `marked paid at ${PAID_AT}`,
      note: null,
      before: { paid_at: null, amount, currency },
      after: { amount, currency },
      attempts: 0,
      requested_by: 'finance',
    });
    expect((await program(id)).paid_at).toBe('2026-10-05T12:00:00.000Z');
    expect(await attempts(asked?.id)).toMatchObject([
      { method: 'GET', status: 200, sent: null },
      { method: 'PUT', status: 200, sent: 'paid_at=2026-10-05T12%3A00%3A00Z', error: null },
    ]);
    const mirrored = await database.pool.query(
      `select co.paid_at, sa.affiliate_id is not null as has_sale from commissions co join sales sa on sa.id = co.sale_id where co.id = $1`,
      [id],
    );
    expect(mirrored.rows).toEqual([{ paid_at: PAID_AT, has_sale: true }]);
  });

  test('stays claimed for as long as its program takes to answer', async () => {
    const { api, db, fresh, ask, row, database } = writer();
    const { id } = await fresh();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    const asking = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow: typeof api = {
      ...api,
      async getCommission(...call) {
        asking.resolve();
        await gate.promise;
        return api.getCommission(...call);
      },
    };
    const claimMs = 1500;
    const draining = drainUpdates(
      { api: slow, db, log: silent },
      { concurrency: 1, signal: new AbortController().signal, timing: { claimMs } },
    );
    await asking.promise;
    const left = async () =>
      (
        await database.pool.query<{ left: number }>(
          `select extract(epoch from claimed_until - clock_timestamp())::float8 as left
           from commission_updates where id = $1`,
          [asked?.id],
        )
      ).rows[0]?.left ?? 0;
    const [longest] = [performance.now() + 2 * claimMs];
    while (performance.now() < longest) {
      expect(await left()).toBeGreaterThan(0);
      await sleep(50);
    }
    gate.resolve();
    await draining;
    expect((await row(asked?.id)).state).toBe('applied');
  });

  test('that holds already ends as unchanged without a PUT', async () => {
    const { fresh, ask, drain, row, received } = writer();
    const { id, due_at } = await fresh();
    const asked = await ask(
      { commission_id: id, action: 'unpay' },
      { commission_id: id, action: 'due', due_at },
    );
    await drain();
    expect(await row(asked[0]?.id)).toMatchObject({
      state: 'unchanged',
      outcome: 'is unpaid already: nothing was sent',
    });
    expect(await row(asked[1]?.id)).toMatchObject({ state: 'unchanged' });
    expect(received('PUT')).toEqual([]);
  });

  test('whose expectation fails ends as conflict, naming what was expected and what is', async () => {
    const { fresh, ask, drain, row, received } = writer();
    const { id, amount, currency } = await fresh();
    const other = currency === 'USD' ? 'EUR' : 'USD';
    const [asked] = await ask({
      commission_id: id,
      action: 'pay',
      paid_at: PAID_AT,
      expected_paid_at: '2026-09-01T00:00:00Z',
      expected_amount: amount + 1,
      expected_currency: other,
    });
    await drain();
    const { state, outcome } = await row(asked?.id);
    expect(state).toBe('conflict');
    expect(outcome).toContain('expected it to be paid at 2026-09-01T00:00:00Z, but it is unpaid');
    expect(outcome).toContain(
      `expected the amount ${formatMoney(amount + 1, other)}, but it is ${formatMoney(amount, currency)}`,
    );
    expect(outcome).toContain(`but it is ${currency}`);
    expect(received('PUT')).toEqual([]);
  });

  test('for a commission that is gone ends as not_found, and the mirror marks it deleted', async () => {
    const { fresh, ask, drain, row, sandbox, database } = writer();
    const { id } = await fresh();
    const [first] = await ask({ commission_id: id, action: 'unpay' });
    await drain();
    expect((await row(first?.id)).state).toBe('unchanged');
    await sandbox.program.deleteCommission(id);
    const [second] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    await drain();
    expect((await row(second?.id)).state).toBe('not_found');
    const { rows } = await database.pool.query(
      'select _deleted_at is not null as gone from commissions where id = $1',
      [id],
    );
    expect(rows).toEqual([{ gone: true }]);
  });

  test('whose time the program cuts ends as applied with a note', async () => {
    const { fresh, ask, drain, row } = writer();
    const { id } = await fresh();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: '2026-10-05T12:00:00.123456Z' });
    await drain();
    expect(await row(asked?.id)).toMatchObject({
      state: 'applied',
      note: 'the program keeps 2026-10-05T12:00:00.123Z: it cut the fraction of the second',
    });
  });

  test('can take a payment back', async () => {
    const { fresh, ask, drain, row, program } = writer();
    const { id } = await fresh();
    const asked = await ask(
      { commission_id: id, action: 'pay', paid_at: PAID_AT },
      { commission_id: id, action: 'unpay', expected_paid_at: PAID_AT },
    );
    await drain();
    expect(await row(asked[1]?.id)).toMatchObject({ state: 'applied', outcome: 'marked unpaid' });
    expect((await program(id)).paid_at).toBeNull();
  });
});

describe('requests for one commission', () => {
  test('apply in the order in which they were asked for, whatever the concurrency', async () => {
    const { fresh, ask, drain, program, received } = writer();
    const { id } = await fresh();
    const hours = Array.from(
      { length: 12 },
      (_, hour) => `2026-10-05T${String(hour).padStart(2, '0')}:00:00Z`,
    );
    await ask(...hours.map((paid_at) => ({ commission_id: id, action: 'pay' as const, paid_at })));
    await Promise.all([drain({ concurrency: 8 }), drain({ concurrency: 8 })]);
    expect(received('PUT').length).toBe(12);
    expect((await program(id)).paid_at).toBe('2026-10-05T11:00:00.000Z');
  });

  test('that supersede drop the older ones, and only those that set the same value', async () => {
    const { fresh, ask, drain, row, received } = writer();
    const { id } = await fresh();
    const older = await ask(
      { commission_id: id, action: 'pay', paid_at: PAID_AT },
      { commission_id: id, action: 'due', due_at: '2026-12-01T00:00:00Z' },
    );
    const [newer] = await ask({
      commission_id: id,
      action: 'pay',
      paid_at: '2026-10-06T00:00:00Z',
      supersede: true,
    });
    await drain();
    expect(await row(older[0]?.id)).toMatchObject({
      state: 'superseded',
      outcome: `superseded by request ${newer?.id} before anything was sent`,
    });
    expect((await row(older[1]?.id)).state).toBe('applied');
    expect((await row(newer?.id)).state).toBe('applied');
    expect(received('PUT').length).toBe(2);
  });
});

describe('a change whose answer is lost', () => {
  for (const kind of ['reset-after', 'cut', 'truncated'] as const) {
    test(`(${kind}) is found by reading, and is not sent again`, async () => {
      const { fresh, ask, drain, row, received, sandbox, attempts } = writer();
      const { id } = await fresh();
      const [asked] = await ask({
        commission_id: id,
        action: 'pay',
        paid_at: PAID_AT,
        expected_unpaid: true,
      });
      sandbox.setFaults({ shares: {}, exact: [{ kind, method: 'PUT' }] });
      await drain();
      expect(await row(asked?.id)).toMatchObject({
        state: 'applied',
        note: 'the answer to the change was lost; reading the commission showed that it had arrived',
        before: { paid_at: null },
        after: { paid_at: '2026-10-05T12:00:00.000Z' },
      });
      expect(received('PUT').length).toBe(1);
      const puts = (await attempts(asked?.id)).filter(({ method }) => method === 'PUT');
      expect(puts).toMatchObject([{ error_code: 'WRITE_UNKNOWN' }]);
    });
  }

  for (const kind of ['5xx', 'reset', 'html'] as const) {
    test(`(${kind}) and that did not arrive is sent again`, async () => {
      const { fresh, ask, drain, row, received, sandbox, program } = writer();
      const { id } = await fresh();
      const [asked] = await ask({
        commission_id: id,
        action: 'pay',
        paid_at: PAID_AT,
        expected_unpaid: true,
      });
      sandbox.setFaults({ shares: {}, exact: [{ kind, method: 'PUT' }] });
      await drain();
      expect(await row(asked?.id)).toMatchObject({ state: 'applied', note: null, attempts: 0 });
      expect(received('PUT').length).toBe(2);
      expect((await program(id)).paid_at).toBe('2026-10-05T12:00:00.000Z');
    });
  }
});

test('a change that may have arrived is remembered through further tries that certainly did not', async () => {
  const { fresh, ask, row, sandbox, db } = writer();
  const { id } = await fresh();
  const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT, expected_unpaid: true });
  let answers = 0;
  const api = await makeAlteredApi({ db, sandbox }, async (body) => {
    answers += 1;
    // The try ends with the third PUT; only then the first one arrives.
    if (answers === 6) await sandbox.program.updateCommission(id, { paid_at: PAID_AT });
    return body;
  });
  sandbox.setFaults({
    shares: {},
    exact: [
      { kind: '5xx', method: 'PUT' },
      { kind: '429', method: 'PUT', after: 1, times: 2 },
    ],
  });
  await drainUpdates(
    { api, db, log: silent },
    { concurrency: 1, signal: AbortSignal.timeout(100_000), timing: { firstBackoffMs: 1 } },
  );
  expect(await row(asked?.id)).toMatchObject({ state: 'applied', before: { paid_at: null } });
  expect(answers).toBe(7);
});

test('a change that certainly did not arrive is not remembered, so that its request can be cancelled', async () => {
  const { fresh, ask, row, sandbox, db } = writer();
  const [asked] = await ask({ commission_id: (await fresh()).id, action: 'pay', paid_at: PAID_AT });
  const enough = new AbortController();
  const api = await makeAlteredApi({ db, sandbox }, (body) => {
    if (body.includes('Too many requests')) enough.abort(new Error('enough'));
    return body;
  });
  sandbox.setFaults({ shares: {}, exact: [{ kind: '429', method: 'PUT' }] });
  const drained = drainUpdates(
    { api, db, log: silent },
    { concurrency: 1, signal: AbortSignal.timeout(100_000), enough: enough.signal },
  );
  await expect(drained).rejects.toThrow('enough');
  expect(await row(asked?.id)).toMatchObject({ state: 'pending', put_sent_at: null });
  await writer().drain();
});

test('a change counts as seen when it was answered, so that no list that was read meanwhile undoes it', async () => {
  const { fresh, ask, sandbox, db, database } = writer();
  const { id } = await fresh();
  await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
  let answeredAt = '';
  const api = await makeAlteredApi({ db, sandbox }, async (body) => {
    const { rows } = await database.pool.query('select clock_timestamp() as now');
    answeredAt = rows[0].now;
    return body;
  });
  await drainUpdates({ api, db, log: silent }, { concurrency: 1, signal: AbortSignal.timeout(100_000) });
  const { rows } = await database.pool.query(
    'select paid_at, _observed_at > $2 as is_later from commissions where id = $1',
    [id, answeredAt],
  );
  expect(rows).toEqual([{ paid_at: PAID_AT, is_later: true }]);
});

test('a change that is answered 429 is not sent on what was read before: what somebody paid meanwhile stays', async () => {
  const { fresh, ask, row, program, sandbox, db, attempts } = writer();
  const { id } = await fresh();
  const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT, expected_unpaid: true });
  const api = await makeAlteredApi({ db, sandbox }, async (body) => {
    if (body.includes('Too many requests')) {
      await sandbox.program.updateCommission(id, { paid_at: '2026-09-01T00:00:00Z' });
    }
    return body;
  });
  sandbox.setFaults({ shares: {}, exact: [{ kind: '429', method: 'PUT' }] });
  await drainUpdates({ api, db, log: silent }, { concurrency: 1, signal: AbortSignal.timeout(100_000) });
  expect((await program(id)).paid_at).toBe('2026-09-01T00:00:00.000Z');
  expect(await row(asked?.id)).toMatchObject({ state: 'conflict', put_sent_at: expect.anything() });
  expect(await attempts(asked?.id)).toMatchObject([
    { method: 'GET', status: 200 },
    { method: 'PUT', status: 429, error_code: 'API_THROTTLED' },
    { method: 'GET', status: 200 },
  ]);
});

test('a change that had to wait is not sent on what was read before: what somebody paid meanwhile stays', async () => {
  const { fresh, ask, row, program, sandbox, db, database, received } = writer();
  const { id } = await fresh();
  const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT, expected_unpaid: true });
  let reads = 0;
  const api = await makeAlteredApi({ db, sandbox }, async (body) => {
    reads += 1;
    if (reads === 1) {
      // Another request was answered 429.
      await database.pool.query(
        "update mirror.request_budget set paused_until = clock_timestamp() + interval '500 ms'",
      );
      await sandbox.program.updateCommission(id, { paid_at: '2026-09-01T00:00:00Z' });
    }
    return body;
  });
  await drainUpdates(
    { api, db, log: silent },
    { concurrency: 1, signal: AbortSignal.timeout(100_000), timing: { freshMs: 300 } },
  );
  expect((await program(id)).paid_at).toBe('2026-09-01T00:00:00.000Z');
  expect(await row(asked?.id)).toMatchObject({ state: 'conflict', put_sent_at: null });
  expect(received().map(({ method }) => method)).toEqual(['GET', 'GET']);
});

test('a payment whose amount changes while it is sent is applied with a note that says so', async () => {
  const { fresh, ask, row, sandbox, db } = writer();
  const { id, amount, currency } = await fresh();
  const [asked] = await ask({
    commission_id: id,
    action: 'pay',
    paid_at: PAID_AT,
    expected_amount: amount,
    expected_currency: currency,
  });
  const api = await makeAlteredApi({ db, sandbox }, async (body) => {
    await sandbox.program.updateCommission(id, { amount: amount + 100 });
    return body;
  });
  await drainUpdates({ api, db, log: silent }, { concurrency: 1, signal: AbortSignal.timeout(100_000) });
  const [was, is] = [formatMoney(amount, currency), formatMoney(amount + 100, currency)];
  expect(await row(asked?.id)).toMatchObject({
    state: 'applied',
    note: `changed meanwhile: expected the amount ${was}, but it is ${is}`,
  });
});

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

test('whoever waits for requests of their own does not cut off the change of another that was sent', async () => {
  const { freshMany, ask, row, attempts, sandbox, db } = writer();
  const commissions = await freshMany(3);
  // The first goes alone, until the program has answered it.
  const [first, own, other] = await ask(
    ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
  );
  const sent = Promise.withResolvers<void>();
  const ownEnded = Promise.withResolvers<void>();
  const answers: string[] = [];
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    const isPut = answers.includes(path);
    answers.push(path);
    if (isPut && path.endsWith(commissions[1]?.id ?? '')) await sent.promise;
    if (isPut && path.endsWith(commissions[2]?.id ?? '')) {
      sent.resolve();
      await ownEnded.promise;
    }
    return body;
  });
  const counts = await awaitUpdates({ api, db, log: silent }, [first?.id ?? 0, own?.id ?? 0], {
    concurrency: 2,
    signal: AbortSignal.timeout(100_000),
    onProgress: ({ pending }) => pending === undefined && ownEnded.resolve(),
  });
  expect(counts).toEqual({ applied: 2 });
  expect(await row(other?.id)).toMatchObject({ state: 'applied', note: null });
  expect(await attempts(other?.id)).toMatchObject([
    { method: 'GET', status: 200 },
    { method: 'PUT', status: 200, error: null },
  ]);
});

describe('a drain', () => {
  test('that is aborted releases what it has not done', async () => {
    const { freshMany, ask, drain, row, sandbox } = writer();
    const commissions = await freshMany(4);
    const asked = await ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
    sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', after: 2, times: 100 }] });
    const controller = new AbortController();
    const drained = drain({ signal: controller.signal, onEnd: () => controller.abort(new Error('stopped')) });
    await expect(drained).rejects.toThrow('stopped');
    sandbox.setFaults({ shares: {}, exact: [] });
    const states = await Promise.all(asked.map(({ id }) => row(id)));
    expect(states.map(({ state, claimed_by }) => [state, claimed_by])).toEqual([
      ['applied', null],
      ['pending', null],
      ['pending', null],
      ['pending', null],
    ]);
    expect(await drain()).toMatchObject({ ended: { applied: 3 } });
  });

  test('that ends for another reason while a change is under way remembers that it may have arrived', async () => {
    const { fresh, ask, drain, row, received, sandbox } = writer();
    const { id } = await fresh();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', method: 'PUT' }] });
    const controller = new AbortController();
    const drained = drain({ signal: controller.signal });
    drained.catch(() => undefined);
    await expect.poll(() => received().filter(({ method }) => method === 'PUT').length).toBe(1);
    controller.abort(new DatabaseUnreachable('the connection was lost'));
    await expect(drained).rejects.toThrow('the connection was lost');
    expect(await row(asked?.id)).toMatchObject({ state: 'pending', put_sent_at: expect.any(String) });
    // It arrived.
    await sandbox.program.updateCommission(id, { paid_at: PAID_AT });
    sandbox.setFaults({ shares: {}, exact: [] });
    expect(await drain()).toMatchObject({ ended: { applied: 1 } });
  });
});
