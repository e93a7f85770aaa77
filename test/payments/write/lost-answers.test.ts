// A change that may have arrived, and one that was to be sent on what was read before it.

import { describe, expect, test } from 'vitest';
import { applyUpdates } from '../../../src/payments/write/apply-updates.ts';
import type { FaultKind } from '../../../src/sandbox/fault-plan.ts';
import { makeAlteredApi, PAID_AT, silent, useWriter } from './start-writer.ts';

const writer = useWriter();

describe('a change whose answer is lost', () => {
  async function payWithFault(kind: FaultKind) {
    const { fresh, ask, drain, sandbox } = writer();
    const { id } = await fresh();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT, expected_unpaid: true });
    sandbox.setFaults({ shares: {}, exact: [{ kind, method: 'PUT' }] });
    await drain();
    return { id, asked };
  }

  for (const kind of ['reset-after', 'cut', 'truncated'] as const) {
    test(`(${kind}) is found by reading, and is not sent again`, async () => {
      const { row, received, attempts } = writer();
      const { asked } = await payWithFault(kind);
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
      const { row, received, program } = writer();
      const { id, asked } = await payWithFault(kind);
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
  await applyUpdates(
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
  const drained = applyUpdates(
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
  await writer().drain({ api, concurrency: 1 });
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
  await writer().drain({ api, concurrency: 1 });
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
  await applyUpdates(
    { api, db, log: silent },
    { concurrency: 1, signal: AbortSignal.timeout(100_000), timing: { freshMs: 300 } },
  );
  expect((await program(id)).paid_at).toBe('2026-09-01T00:00:00.000Z');
  expect(await row(asked?.id)).toMatchObject({ state: 'conflict', put_sent_at: null });
  expect(received().map(({ method }) => method)).toEqual(['GET', 'GET']);
});
