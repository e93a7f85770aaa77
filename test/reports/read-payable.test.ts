// What is payable, and why the rest of what is due is not.

import { expect, test } from 'vitest';
import type { Commission } from '../../src/contract/commission.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { requestUpdates } from '../../src/payments/ask/request-updates.ts';
import { cancelUpdates, retryUpdates } from '../../src/payments/ask/revise-updates.ts';
import { plainRequest } from '../../src/payments/update-request.ts';
import { describeRefund } from '../../src/payments/update-words.ts';
import { balancesOf, findAffiliates, readCoverage, readPayable } from '../../src/reports/read-payable.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const NOW = { before: null, affiliateIds: null };
const id = (digit: number) => `0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c${String(digit).padStart(2, '0')}`;
const idsOf = async (db: Database, question = NOW as Parameters<typeof readPayable>[1]) =>
  (await readPayable(db, question)).commissions.map(({ commission_id }) => commission_id);

/** Stores commissions that are due, numbered from 0, each with its change. */
async function store({ pool }: TestDatabase, changes: readonly string[]): Promise<void> {
  for (const [digit, change] of changes.entries()) {
    await pool.query(
      `insert into commissions (id, amount, currency, due_at, _first_seen_at, _changed_at, _observed_at)
       values ($1, 8395, 'eur', '2026-01-01T00:00:00Z', now(), now(), now())`,
      [id(digit)],
    );
    if (change !== '') await pool.query(`update commissions set ${change} where id = $1`, [id(digit)]);
  }
}

/** A request for a commission by its number, and how it ends. */
type End = readonly [digit: number, action: 'pay' | 'unpay' | 'due', state: string];

/** Returns the number of the request. */
async function askAndEnd({ pool }: TestDatabase, [digit, action, state]: End): Promise<number> {
  const moment = '2026-10-01T00:00:00Z';
  const request = plainRequest({
    commission_id: id(digit),
    action,
    paid_at: action === 'pay' ? moment : null,
    due_at: action === 'due' ? moment : null,
  });
  const asked = await requestUpdates({ db: makeDatabase(pool) }, [request], {
    batchId: null,
    requestedBy: null,
  });
  const made = asked[0]?.id ?? 0;
  if (state === 'pending') return made;
  await pool.query(
    "update commission_updates set state = $2, outcome = 'so', finished_at = now() where id = $1",
    [made, state],
  );
  return made;
}

test('payable are those that are due, not voided and not gone; without a date, those that are not pending', async () => {
  const database = await createTestDatabase();
  const { db } = database;
  await store(database, [
    '',
    "paid_at = '2026-01-01T00:00:00Z'",
    "due_at = now() + interval '1 day'",
    "voided_at = '2026-01-01T00:00:00Z'",
    "state = 'voided'",
    '_deleted_at = now()',
    'due_at = null',
    "due_at = null, state = 'pending'",
    "due_at = now() + interval '40 days'",
  ]);
  const { commissions, withheld } = await readPayable(db, NOW);
  expect(commissions).toEqual(
    [id(0), id(6)].map((commission_id) => ({
      commission_id,
      affiliate_id: null,
      affiliate_name: null,
      affiliate_email: null,
      payout_email: null,
      wise_email: null,
      has_payout_address: false,
      amount: 8395,
      currency: 'EUR',
      due_at: commission_id === id(6) ? null : expect.stringMatching(/Z$/),
      payout_id: null,
    })),
  );
  expect(withheld).toEqual(new Map());
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  expect(await idsOf(db, { ...NOW, before: inDays(30) })).toEqual([id(0), id(2), id(6)]);
  expect(await idsOf(db, { ...NOW, before: '2026-01-01T00:00:00Z' })).toEqual([id(6)]);
});

test('what was asked for or paid through the payment ledger is left out, until the ledger has it taken back', async () => {
  const database = await createTestDatabase();
  const { db } = database;
  await store(database, ['', '', '', '', '']);
  const ends: readonly End[] = [
    [1, 'pay', 'pending'],
    // Paid here, and yet unpaid by the mirror: somebody took it back elsewhere, or the mirror is old.
    [2, 'pay', 'applied'],
    [2, 'pay', 'conflict'],
    [3, 'pay', 'unchanged'],
    [3, 'unpay', 'applied'],
    [4, 'pay', 'rejected'],
    // It may still be paid, or is: what failed is no payment.
    [2, 'unpay', 'failed'],
    [4, 'unpay', 'failed'],
  ];
  for (const end of ends) await askAndEnd(database, end);
  const { commissions, withheld } = await readPayable(db, NOW);
  expect(commissions.map(({ commission_id }) => commission_id)).toEqual([id(0), id(3), id(4)]);
  expect(withheld).toEqual(
    new Map([
      ['a request for it waits in the payment ledger', 1],
      ['by the payment ledger it was paid before', 1],
    ]),
  );
});

test('what failed to be paid is left out until it is taken back, or retried and then cancelled', async () => {
  const database = await createTestDatabase();
  const { db } = database;
  await store(database, ['', '', '', '', '']);
  const failed: number[] = [];
  for (const digit of [0, 1, 2, 3, 4]) failed.push(await askAndEnd(database, [digit, 'pay', 'failed']));
  // Whether it was sent does not matter: whoever asked for it has paid, or is about to.
  await database.pool.query('update commission_updates set put_sent_at = now() where id = $1', [failed[0]]);
  await askAndEnd(database, [1, 'pay', 'conflict']);
  await askAndEnd(database, [2, 'due', 'applied']);
  const reason = 'a payment for it failed: retry it, or take it back with unpay';
  expect(await readPayable(db, NOW)).toEqual({ commissions: [], withheld: new Map([[reason, 5]]) });

  await askAndEnd(database, [3, 'unpay', 'unchanged']);
  expect(await idsOf(db)).toEqual([id(3)]);
  const of4 = { kind: 'requests', ids: [failed[4] ?? 0] } as const;
  await retryUpdates(db, of4);
  expect(await idsOf(db)).toEqual([id(3)]);
  await cancelUpdates(db, of4, 'somebody');
  expect(await idsOf(db)).toEqual([id(3), id(4)]);
});

test('nobody is paid what has no amount or no currency', async () => {
  const database = await createTestDatabase();
  const { db } = database;
  await store(database, ['', 'amount = null', 'currency = null']);
  const { commissions, withheld } = await readPayable(db, NOW);
  expect(commissions.map(({ commission_id }) => commission_id)).toEqual([id(0)]);
  expect(withheld).toEqual(new Map([['it has no amount or no currency', 2]]));
});

test('a balance is transferred where it is above zero and a payout address is not known to be lacking', async () => {
  const database = await createTestDatabase();
  const { db } = database;
  const people = [
    ['paid', 'payout@example.com', null, 'a@example.com'],
    ['by another provider', '', 'wise@example.com', 'b@example.com'],
    ['empty', '', null, 'c@example.com'],
    ['none', null, '', 'd@example.com'],
    ['not kept', null, null, null],
    ['owing', 'payout@example.com', null, 'e@example.com'],
    ['even', '', null, 'f@example.com'],
  ] as const;
  await store(
    database,
    [...people, 'owing', 'even', 'paid'].map(() => ''),
  );
  for (const [digit, person] of people.entries()) {
    await database.pool.query(
      `insert into affiliates (id, payout_email, wise_email, email, _first_seen_at, _changed_at, _observed_at)
       values ($1, $2, $3, $4, now(), now(), now())`,
      [...person],
    );
    await database.pool.query(
      'insert into sales (id, affiliate_id, _first_seen_at, _changed_at, _observed_at) values ($1, $1, now(), now(), now())',
      [person[0]],
    );
    await database.pool.query('update commissions set sale_id = $1 where id = $2', [person[0], id(digit)]);
  }
  await database.pool.query(`update commissions set sale_id = 'owing', amount = -9000 where id = $1`, [
    id(7),
  ]);
  await database.pool.query(`update commissions set sale_id = 'even', amount = -8395 where id = $1`, [id(8)]);
  // Another currency is another balance; what is due later is in none.
  await database.pool.query(
    `update commissions set sale_id = 'paid', currency = 'USD', amount = -1 where id = $1`,
    [id(9)],
  );
  await database.pool.query(
    `insert into commissions (id, amount, currency, due_at, sale_id, _first_seen_at, _changed_at, _observed_at)
     values ('later', 9000, 'EUR', now() + interval '1 day', 'owing', now(), now(), now()),
            ('unnamed', 5, 'EUR', '2026-01-01Z', null, now(), now(), now())`,
  );

  const readBalances = async (before: string | null) => {
    const { commissions } = await readPayable(db, { ...NOW, before });
    return Object.fromEntries(
      balancesOf(commissions).map((of) => [
        `${of.affiliate_id} ${of.currency}`,
        [of.amount, of.has_payout_address, of.obstacle],
      ]),
    );
  };
  const balances = {
    'paid EUR': [8395n, true, null],
    'paid USD': [-1n, true, 'zero or negative'],
    'by another provider EUR': [8395n, true, null],
    'empty EUR': [8395n, false, 'no payout address'],
    'none EUR': [8395n, false, 'no payout address'],
    'not kept EUR': [8395n, null, null],
    'owing EUR': [-605n, true, 'zero or negative'],
    'even EUR': [0n, false, 'zero or negative'],
    'null EUR': [5n, false, 'no payout address'],
  };
  expect(await readBalances(null)).toEqual(balances);
  const { rows } = await database.pool.query('select * from mirror_reports.payouts_due');
  expect(
    Object.fromEntries(
      rows.map((of) => [
        `${of.affiliate_id} ${of.currency}`,
        [BigInt(of.amount), of.has_payout_address, of.is_transferable],
      ]),
    ),
  ).toEqual(
    Object.fromEntries(
      Object.entries(balances).map(([key, [amount, has, obstacle]]) => [
        key,
        [amount, has, obstacle === null],
      ]),
    ),
  );

  const inTwoDays = new Date(Date.now() + 2 * 86_400_000).toISOString();
  expect(await readBalances(inTwoDays)).toEqual({ ...balances, 'owing EUR': [8395n, true, null] });
});

test('a sale is refunded in full for the view as it is for the writer', async () => {
  const database = await createTestDatabase();
  const { db } = database;
  const amounts = [null, 0, 500, 1000];
  const sales = amounts.flatMap((charge) =>
    amounts.flatMap((refund) => amounts.map((left) => ({ charge, refund, left }))),
  );
  await store(
    database,
    sales.map(() => ''),
  );
  const expected: string[] = [];
  for (const [digit, { charge, refund, left }] of sales.entries()) {
    await database.pool.query(
      `insert into sales (id, charge_amount_cents, refund_amount_cents, sale_amount_cents, _first_seen_at, _changed_at, _observed_at)
       values ($1, $2, $3, $4, now(), now(), now())`,
      [id(digit), charge, refund, left],
    );
    await database.pool.query('update commissions set sale_id = $1 where id = $1', [id(digit)]);
    const sale = {
      ...(charge !== null && { charge_amount_cents: charge }),
      ...(refund !== null && { refund_amount_cents: refund }),
      ...(left !== null && { sale_amount_cents: left }),
    };
    if (describeRefund({ sale } as Commission) === null) expected.push(id(digit));
  }
  expect(expected.length).toBeGreaterThan(10);
  expect(expected.length).toBeLessThan(sales.length - 10);
  expect(await idsOf(db)).toEqual(expected);
  expect((await readPayable(db, NOW)).withheld).toEqual(
    new Map([['its sale was refunded in full', sales.length - expected.length]]),
  );
});

test('an affiliate is found by its identifier or its email address', async () => {
  const { db, pool } = await createTestDatabase();
  await pool.query(
    `insert into affiliates (id, email, _first_seen_at, _changed_at, _observed_at)
     values ('one', 'Jane@example.com', now(), now(), now()), ('two', 'joe@example.com', now(), now(), now())`,
  );
  expect(await findAffiliates(db, ['two'])).toEqual(['two']);
  expect(await findAffiliates(db, ['TWO'])).toEqual(['two']);
  expect(await findAffiliates(db, ['jane@EXAMPLE.com'])).toEqual(['one']);
  expect(await findAffiliates(db, ['nobody'])).toEqual([]);
});

test.each(['jane@münchen.example', 'JANE@xn--mnchen-3ya.example'])(
  'affiliates are found by the address %s, however its domain is spelled',
  async (address) => {
    const { pool } = await createTestDatabase();
    await pool.query(
      `insert into affiliates (id, email, _first_seen_at, _changed_at, _observed_at)
       select email, email, now(), now(), now()
       from unnest(array['jane@MÜNCHEN.example', 'jane@xn--mnchen-3ya.example', 'jane@munchen.example']) as email`,
    );
    expect(await findAffiliates(makeDatabase(pool), [address])).toEqual([
      'jane@MÜNCHEN.example',
      'jane@xn--mnchen-3ya.example',
    ]);
  },
);

test('commissions are covered whole where the list is used and was read whole, but for what could not be stored', async () => {
  const database = await createTestDatabase();
  const { db, pool } = database;
  await store(database, ['', '_deleted_at = now()']);
  const [whole, delta] = ['2026-10-01T00:00:00Z', '2026-10-01T06:00:00Z'];
  const known = { known: 1, isListed: false, not_stored: 0, everything_as_of: null, changes_as_of: null };
  expect(await readCoverage({ db, mirrorSchema: 'mirror' })).toEqual({ ...known, polled_as_of: null });
  await pool.query('insert into tracked_commissions (commission_id, last_polled_at) values ($1, $2)', [
    id(0),
    whole,
  ]);
  expect(await readCoverage({ db, mirrorSchema: 'mirror' })).toMatchObject({
    polled_as_of: expect.stringMatching(/^2026-10-01/),
  });
  const addRun = (mode: string, startedAt: string, rejected: number) =>
    pool.query(
      `insert into sync_runs (resource, mode, state, verified, started_at, finished_at, rows_seen, rows_rejected)
       values ('commissions', $1, 'succeeded', true, $2, $2, $3, $3)`,
      [mode, startedAt, rejected],
    );
  // A list that is no longer used is as good as none.
  await addRun('full', whole, 2);
  expect(await readCoverage({ db, mirrorSchema: 'mirror' })).toMatchObject(known);
  await pool.query("update optional_lists set setting = 'on'");
  await addRun('delta', delta, 0);
  const { everything_as_of, changes_as_of, ...rest } = await readCoverage({ db, mirrorSchema: 'mirror' });
  expect(rest).toMatchObject({ known: 1, isListed: true, not_stored: 2 });
  expect([everything_as_of, changes_as_of].map((moment) => Date.parse(moment ?? ''))).toEqual(
    [whole, delta].map((moment) => Date.parse(moment)),
  );
});
