// A commission with something nested in it that cannot be stored, or not even be read: it is paid nevertheless, its
// own row is mirrored, and what could not be stored is rejected by itself.

import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import { makeClient } from '../api/make-client.ts';
import { rawAnswer, startRawProgram } from '../api/raw-program.ts';
import { buildCommission } from '../mirror/build-records.ts';
import { createTestDatabase } from '../support/database.ts';
import { deepArrays, deepObjects, piece, withPieces } from '../support/raw-json.ts';

interface Nested {
  [field: string]: unknown;
}

/** Returns the client of a program that knows this commission alone. */
async function clientOf(commission: object): Promise<ApiClient> {
  const body = withPieces(commission);
  const program = await startRawProgram((socket) => socket.write(rawAnswer('200 OK', body)));
  return makeClient({ url: program.url }).api;
}

const saleOf = (commission: object) =>
  (commission as { sale: Nested & { referral: Nested; affiliate: Nested } }).sale;

test.each<[string, Nested, RegExp]>([
  [
    'an unknown field 8,000 levels deep',
    { odd: piece(deepObjects(8000, 'odd')) },
    /^sale\.referral\.odd: expected at most 100 levels/,
  ],
  [
    'a known field 50,000 levels deep',
    { visits: piece(deepArrays(50_000)) },
    /^sale\.referral\.visits: expected number, got array/,
  ],
  [
    'a nested record within itself 8,000 times',
    { affiliate: piece(deepObjects(8000, 'affiliate')) },
    /^sale\.referral\.affiliate\.id: /,
  ],
  ['a NUL character', { odd: 'a\0b' }, /^sale\.referral\.odd: expected text that Postgres can store/],
])('%s in its referral costs the referral alone', async (_, spoilt, says) => {
  const sent = buildCommission();
  const { referral } = saleOf(sent);
  Object.assign(referral, spoilt);
  const api = await clientOf(sent);
  const { commission } = await api.getCommission(sent.id);
  expect(commission).toMatchObject({
    id: sent.id,
    amount: sent.amount,
    currency: sent.currency,
    paid_at: sent.paid_at,
  });
  expect((await api.putCommission(sent.id, { paid_at: null })).commission.id).toBe(sent.id);

  const { db, pool } = await createTestDatabase();
  for (const observedAt of ['2026-07-01T00:00:00Z', '2026-07-01T01:00:00Z']) {
    await db.transaction().execute((trx) => mirrorCommissions(trx, [{ commission, observedAt }]));
  }
  const { rows: mirrored } = await pool.query(
    'select c.id, c.amount, s.affiliate_id from commissions c join sales s on s.id = c.sale_id',
  );
  expect(mirrored).toEqual([
    { id: sent.id, amount: sent.amount, affiliate_id: saleOf(sent).affiliate['id'] },
  ]);
  // Polled again, it is still one rejection, the newest.
  const { rows: rejected } = await pool.query(
    'select resource, record_id, reason, observed_at, run_id from rejected_records',
  );
  expect(rejected).toEqual([
    {
      resource: expect.stringMatching(/^(referrals|affiliates)$/),
      record_id: expect.toBeOneOf([referral['id'], null]),
      reason: expect.stringMatching(says),
      observed_at: '2026-07-01T01:00:00Z',
      run_id: null,
    },
  ]);
});

test('a commission whose own unknown field is 8,000 levels deep can be paid, and is rejected as a record', async () => {
  const sent = buildCommission({ odd: piece(deepArrays(8000)) });
  const { commission } = await (await clientOf(sent)).getCommission(sent.id);
  const { pool } = await createTestDatabase();
  await makeDatabase(pool)
    .transaction()
    .execute((trx) => mirrorCommissions(trx, [{ commission, observedAt: '2026-07-01T00:00:00Z' }]));
  const { rows } = await pool.query('select resource, record_id, reason from rejected_records');
  expect(rows).toEqual([
    {
      resource: 'commissions',
      record_id: sent.id,
      reason: 'odd: expected at most 100 levels of nested values, got more',
    },
  ]);
});

test('money that cannot be right makes the answer unusable, in the commission and in its sale', async () => {
  const tooMuch = piece('9007199254740993');
  const spoilt: readonly ((sent: Nested) => unknown)[] = [
    (sent) => Object.assign(sent, { amount: tooMuch }),
    (sent) => Object.assign(saleOf(sent), { refund_amount_cents: tooMuch }),
    (sent) => Object.assign(sent, { paid_at: '9999-12-31T23:59:59-05:00' }),
  ];
  for (const spoil of spoilt) {
    const sent = buildCommission() as Nested & { id: string };
    spoil(sent);
    await expect((await clientOf(sent)).getCommission(sent.id)).rejects.toThrow('not what the contract says');
  }
});
