// A row that the mirror cannot hold fails the one request that it is about, and none beside or after it.

import { describe, expect, test } from 'vitest';
import { drainUpdates } from '../../../src/commissions/writer/drain-updates.ts';
import { useRefusals } from './refusing-database.ts';
import { makeAlteredApi, silent, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 1200 });
const {
  addConstraint,
  addTrigger,
  takeAwayBy,
  freshWithPoisoned,
  askToPay,
  rejectionsOf,
  mirroredAmong,
  statesOf,
} = useRefusals(writer);

describe('a row that the mirror cannot hold', () => {
  test('is rejected with its reason; its payment and the 39 others end as applied, each sent once', async () => {
    const { drain, row, received, program } = writer();
    const { poisoned, others, commissions, referralId } = await freshWithPoisoned(40);
    await addConstraint('referrals', `id <> '${referralId}'`);
    const [first, ...rest] = await askToPay(commissions);

    expect(await drain({ concurrency: 24 })).toEqual({ ended: { applied: 40 }, deferred: 0 });

    expect(received('PUT').length).toBe(40);
    expect(await row(first)).toMatchObject({
      state: 'applied',
      attempts: 0,
      after: { paid_at: '2026-10-05T12:00:00.000Z' },
      note: expect.stringMatching(/the mirror could not take over .*rejected_records.*added_by_dba/),
    });
    expect((await program(poisoned?.id ?? '')).paid_at).toBe('2026-10-05T12:00:00.000Z');
    expect(await rejectionsOf(poisoned?.id)).toMatchObject([
      {
        run_id: null,
        reason: expect.stringContaining('added_by_dba'),
        payload: { id: poisoned?.id, sale: { referral: { id: referralId } } },
      },
    ]);
    expect(await mirroredAmong(others)).toBe(39);
    for (const id of rest) expect(await row(id)).toMatchObject({ state: 'applied', note: null });
  });

  test('is rejected also where only the end of the transaction refuses it', async () => {
    const { drain, row, received } = writer();
    const { poisoned, others, commissions, referralId } = await freshWithPoisoned(5);
    const condition = `new.id = '${referralId}'`;
    await addTrigger('referrals', condition, { errcode: 'P0001', isLate: true });
    const [first] = await askToPay(commissions);
    expect(await drain()).toMatchObject({ ended: { applied: 5 } });
    expect(received('PUT').length).toBe(5);
    expect((await row(first)).note).toContain('the database refused it (SQLSTATE P0001)');
    expect(await rejectionsOf(poisoned?.id)).toMatchObject([
      { reason: 'the database refused it (SQLSTATE P0001)' },
    ]);
    expect(await mirroredAmong(others)).toBe(4);
  });

  test('is rejected with its own fields alone where Postgres refuses the whole record there too', async () => {
    const { drain } = writer();
    const { poisoned, commissions, referralId } = await freshWithPoisoned(5);
    await addConstraint('referrals', `id <> '${referralId}'`);
    await addTrigger('rejected_records', `new.payload -> 'sale' is not null`, {
      errcode: 'P0001',
      isLate: false,
    });
    await askToPay(commissions);
    expect(await drain()).toMatchObject({ ended: { applied: 5 } });
    const [rejection] = await rejectionsOf(poisoned.id);
    expect(rejection?.payload).toMatchObject({ id: poisoned.id, paid_at: '2026-10-05T12:00:00.000Z' });
    expect(rejection?.payload).not.toHaveProperty('sale');
    expect(rejection?.reason).toContain('added_by_dba');
  });

  test('leaves the payment applied even where its rejection is refused too', async () => {
    const { drain, row } = writer();
    const { others, commissions, referralId } = await freshWithPoisoned(6);
    const { pool } = writer().database;
    await pool.query('alter table rejected_records rename to rejected_records_away');
    takeAwayBy('alter table rejected_records_away rename to rejected_records');
    await addConstraint('referrals', `id <> '${referralId}'`);
    const [first] = await askToPay(commissions);
    expect(await drain()).toMatchObject({ ended: { applied: 6 } });
    expect((await row(first)).note).toMatch(/the mirror could not take over .*added_by_dba/);
    expect(await mirroredAmong(others)).toBe(5);
  });

  for (const [shape, open, close] of [
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ] as const) {
    for (const depth of [8_000, 50_000]) {
      test(`(${shape} ${depth} deep) is rejected by itself; its payment and its neighbours end as applied`, async () => {
        const { row, sandbox, db, received } = writer();
        const { poisoned, commissions, referralId } = await freshWithPoisoned(6);
        const deep = `"deep":${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`;
        const api = await makeAlteredApi({ db, sandbox }, (body) =>
          body.includes(`"id":"${poisoned?.id}"`) || body.includes(`"id" : "${poisoned?.id}"`)
            ? body.replace(/"referral"\s*:\s*\{/, (found) => `${found}${deep},`)
            : body,
        );
        const [first, ...rest] = await askToPay(commissions);
        const summary = await drainUpdates(
          { api, db, log: silent },
          { concurrency: 6, signal: AbortSignal.timeout(100_000) },
        );
        expect(summary).toEqual({ ended: { applied: 6 }, deferred: 0 });
        expect(received('PUT').length).toBe(6);
        expect(await row(first)).toMatchObject({ state: 'applied', attempts: 0 });
        expect(await statesOf(rest)).toEqual(new Set(['applied']));
        expect(await rejectionsOf(referralId, 'referrals')).toMatchObject([{ run_id: null }]);
        expect(await mirroredAmong(commissions)).toBe(6);
      });
    }
  }
});

test('an answer nested too deeply to be read costs its own request tries, and no other one anything', async () => {
  const { freshMany, row, sandbox, db } = writer();
  const commissions = await freshMany(6);
  const poisoned = commissions[0]?.id ?? '';
  const deep = `"link":${'{"link":'.repeat(50_000)}null${'}'.repeat(50_000)}`;
  const api = await makeAlteredApi({ db, sandbox }, (body) =>
    body.includes(poisoned) ? body.replace(/"link"\s*:\s*(null|\{[^}]*\})/, deep) : body,
  );
  const [first, ...rest] = await askToPay(commissions);
  const drain = () => writer().drain({ api, concurrency: 6 });
  await drain();
  expect(await statesOf(rest)).toEqual(new Set(['applied']));
  await expect
    .poll(async () => {
      await drain();
      return (await row(first)).state;
    })
    .not.toBe('pending');
  // However it ended, the program and the payment ledger agree about it.
  const { state } = await row(first);
  const { paid_at } = await writer().program(poisoned);
  expect([state, paid_at === null]).toBeOneOf([
    ['failed', true],
    ['applied', false],
  ]);
});
