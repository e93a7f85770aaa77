// A payment provider's file against payouts: how it is read, and which payment is of which payout.

import { expect, test } from 'vitest';
import {
  matchPayouts,
  PAYOUT_FINDINGS,
  type Payment,
  payoutTotals,
} from '../../../src/payments/books/match-payouts.ts';
import { isDifference } from '../../../src/payments/books/reconcile-books.ts';
import { PLAIN_FILE } from '../../../src/payments/files/file-options.ts';
import { readPaymentsFile } from '../../../src/payments/files/payments-file.ts';
import type { PaidPayout } from '../../../src/reports/read-paid-payouts.ts';

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T12:00:00Z`;

let line = 1;
function payment(affiliate: string, amount: number | null, fields: Partial<Payment> = {}): Payment {
  line += 1;
  const currency = amount === null ? null : 'EUR';
  return { line, affiliate, affiliateIds: [affiliate], amount, currency, paid_at: null, ...fields };
}

function payout(id: string, affiliate: string, amount: number, fields: Partial<PaidPayout> = {}): PaidPayout {
  const rest = { state: 'paid', currency: 'EUR', paid_at: day(1) };
  return { payout_id: id, affiliate_id: affiliate, amount, ...rest, ...fields };
}

const found = (payments: readonly Payment[], payouts: readonly PaidPayout[]) =>
  matchPayouts(payments, payouts).map(({ affiliate, payout_id, finding }) => [affiliate, payout_id, finding]);

test('each row of the file and each payout has one finding', () => {
  const payments = [
    payment('ann', 500),
    payment('bob', 700),
    payment('cleo', 900),
    payment('dan', null),
    payment('x@example.com', 100, { affiliateIds: [] }),
    payment('eve', 100, { currency: 'USD' }),
  ];
  const payouts = [
    payout('p1', 'ann', 500),
    payout('p2', 'bob', 701),
    payout('p3', 'dan', 40),
    payout('p4', 'eve', 100, { state: 'processing', paid_at: null }),
  ];
  expect(found(payments, payouts)).toEqual([
    ['ann', 'p1', 'match'],
    ['bob', 'p2', 'different_amount'],
    ['cleo', null, 'not_paid'],
    ['dan', 'p3', 'amount_not_compared'],
    ['x@example.com', null, 'unknown_affiliate'],
    ['eve', null, 'not_paid'],
    [null, 'p4', 'not_in_books'],
  ]);
  const agreeing = Object.keys(PAYOUT_FINDINGS).filter((finding) => !isDifference({ finding }));
  expect(agreeing).toEqual(['match', 'amount_not_compared']);
});

test('several payouts of one affiliate go to equal amounts first, then in order of time', () => {
  const payouts = [
    payout('early', 'ann', 100, { paid_at: day(1) }),
    payout('middle', 'ann', 300, { paid_at: day(2) }),
    payout('late', 'ann', 200, { paid_at: day(3) }),
    payout('dollars', 'ann', 300, { currency: 'USD', paid_at: day(3) }),
  ];
  const payments = [
    payment('ann', 999, { paid_at: day(9) }),
    payment('ann', 888, { paid_at: day(8) }),
    payment('ann', 300, { paid_at: day(9) }),
  ];
  expect(found(payments, payouts)).toEqual([
    ['ann', 'late', 'different_amount'],
    ['ann', 'early', 'different_amount'],
    ['ann', 'middle', 'match'],
    [null, 'dollars', 'not_in_books'],
  ]);
});

test('an address that two affiliates share finds the payout of either', () => {
  const both = { affiliateIds: ['ann', 'bob'] };
  const payments = [payment('shared', 1, both), payment('shared', 2, both), payment('shared', 3, both)];
  const rows = matchPayouts(payments, [payout('p1', 'bob', 1), payout('p2', 'ann', 2)]);
  expect(rows.map(({ affiliate_id, finding }) => [affiliate_id, finding])).toEqual([
    ['bob', 'match'],
    ['ann', 'match'],
    [null, 'not_paid'],
  ]);
});

test('the sums are those of the file and of the payouts, in each currency', () => {
  const payments = [payment('ann', 500), payment('bob', 700), payment('dan', null)];
  const payouts = [
    payout('p1', 'ann', 500, { state: 'processing', paid_at: null }),
    payout('p2', 'dan', 40, { currency: 'USD' }),
    payout('p3', 'eve', 30),
  ];
  const totals = payoutTotals(matchPayouts(payments, payouts));
  expect(totals.map((total) => Object.values(total))).toEqual([
    ['EUR', 'match', 1, 500n, 500n, 0n],
    ['EUR', 'not_paid', 1, 700n, 0n, -700n],
    ['EUR', 'not_in_books', 1, 0n, 30n, 30n],
    ['USD', 'amount_not_compared', 1, null, 40n, null],
  ]);
});

const read = (text: string, renamed: Readonly<Record<string, string>> = {}) =>
  readPaymentsFile(Buffer.from(text), { ...PLAIN_FILE, renamed: new Map(Object.entries(renamed)) });

test("a provider's file is read below its title, by its own names, without what is unpaid in it", async () => {
  const text =
    'Payments of November\nRecipient,Sum,Currency,Sent\nann@example.com,29.90,EUR,2026-11-05T12:00:00Z\nbob@example.com,1.00,EUR,\n';
  const file = await read(text, { affiliate: 'Recipient', amount: 'Sum', paid_at: 'Sent' });
  expect(file).toMatchObject({ problems: [], unpaid: 1 });
  expect(file.rows).toEqual([
    { line: 3, affiliate: 'ann@example.com', amount: 2990, currency: 'EUR', paid_at: day(5) },
  ]);
  expect((await read('affiliate\nann\n')).rows).toEqual([
    { line: 2, affiliate: 'ann', amount: null, currency: null, paid_at: null },
  ]);
});

test('each bad row is named with its line, and a column that may say what was paid is asked for', async () => {
  const problemsOf = async (text: string) =>
    (await read(text)).problems.map((one) => `${one.line}: ${one.problem}`);
  expect(await problemsOf('affiliate,amount,currency\n,1,EUR\nann,2,\nbob,x,EUR\n')).toEqual([
    '2: affiliate is blank',
    expect.stringMatching(/^3: an amount needs its currency/),
    expect.stringMatching(/^4: amount "x" is not a number/),
  ]);
  expect(await problemsOf('affiliate,Status\nann,Failed\n')).toEqual([
    expect.stringContaining('--only "Status"=VALUE'),
  ]);
  expect(await problemsOf('affiliate,amount\n')).toEqual(['null: the file holds no rows']);
});
