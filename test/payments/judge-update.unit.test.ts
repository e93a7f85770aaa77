// What is done about a request, given what the program has.

import { expect, test } from 'vitest';
import { judgeAnswer, judgeUpdate, refusalOf } from '../../src/payments/judge-update.ts';
import { plainRequest, valuesOf } from '../../src/payments/update-request.ts';
import { makeRefusal } from '../api/make-refusal.ts';
import { AT, ID, live } from './live-commission.ts';

const pay = plainRequest({ commission_id: ID, action: 'pay', paid_at: AT });
const unpay = plainRequest({ commission_id: ID, action: 'unpay' });
const due = plainRequest({ commission_id: ID, action: 'due', due_at: AT });
const EARLIER = '2026-09-01T00:00:00Z';
const LATER = '2026-12-01T00:00:00Z';
const unpaid = { ...pay, expected_unpaid: true };
const CUT = { ...unpay, expected_paid_at: '2026-09-01T12:00:00.500Z' };
const IN_OTHER_LETTERS = { ...unpaid, expected_amount: 100, expected_currency: 'Usd' };

test.each([
  ['a pay of an unpaid commission', pay, live(), { paid_at: AT }],
  ['a pay at another timestamp', pay, live({ paid_at: EARLIER }), { paid_at: AT }],
  ['an unpay of a paid one', unpay, live({ paid_at: AT }), { paid_at: null }],
  ['an expected payment that was cut', CUT, live({ paid_at: '2026-09-01T12:00:00Z' }), { paid_at: null }],
  ['a pay at the time at which it is due', pay, live({ due_at: AT }), { paid_at: AT }],
  ['a due of one without a due date', due, live({ due_at: null }), { due_at: AT }],
  ['a due of one that was paid then', due, live({ paid_at: AT, due_at: LATER }), { due_at: AT }],
  ['an expected amount, its currency in other letters', IN_OTHER_LETTERS, live(), { paid_at: AT }],
])('a request writes: %s', (_, request, commission, change) => {
  expect(judgeUpdate(request, commission, null)).toEqual({ kind: 'write', change, note: null });
});

test.each([
  ['unchanged', pay, live({ paid_at: '2026-10-01T14:00:00.000+02:00' }), /is paid at .* already/],
  ['unchanged', unpay, live(), /is unpaid already/],
  ['unchanged', due, live({ paid_at: LATER }), /is payable from 2026-10-01T12:00:00Z already/],
  ['rejected', pay, live({ voided_at: EARLIER }), /voided since 2026-09-01T00:00:00Z: nothing was sent/],
  ['rejected', unpay, live({ state: 'voided', paid_at: AT }), /the commission is voided: nothing/],
  ['conflict', unpaid, live({ paid_at: EARLIER }), /expected it to be unpaid/],
  ['conflict', { ...unpay, expected_paid_at: AT }, live(), /expected .* paid at .*, but it is unpaid/],
  [
    'conflict',
    { ...pay, expected_amount: 1, expected_currency: 'EUR' },
    live(),
    /amount 0\.01 EUR, but it is 1\.00 USD; .*EUR, but it is USD/,
  ],
])('a request ends as %s, in words', (state, request, commission, outcome) => {
  expect(judgeUpdate(request, commission, null)).toMatchObject({
    kind: 'end',
    state,
    outcome: expect.stringMatching(outcome),
  });
});

test('one that finds the payment there, though it expected none, warns of a double payment', () => {
  const note = expect.stringContaining('not paid twice');
  expect(judgeUpdate(unpaid, live({ paid_at: AT }), null)).toMatchObject({ state: 'conflict', note });
});

test('one whose own PUT may have arrived is applied where the commission holds it, whatever was expected', () => {
  const note = expect.stringContaining('had arrived');
  expect(judgeUpdate(unpaid, live({ paid_at: AT }), { on: null })).toMatchObject({ state: 'applied', note });
  expect(judgeUpdate(unpaid, live(), { on: null })).toMatchObject({ kind: 'write' });
});

test.each([
  ['was paid at another time', pay, live(), live({ paid_at: EARLIER })],
  ['was paid, after it was marked unpaid', unpay, live({ paid_at: AT }), live({ paid_at: EARLIER })],
  ['is as before, and was changed', pay, live(), live({ updated_at: '2026-10-01T00:00:00Z' })],
  ['got another due date', pay, live(), live({ due_at: EARLIER })],
])('one that %s, after a change of ours was lost, is not written over', (_, request, before, found) => {
  expect(judgeUpdate(request, before, { on: valuesOf(before) })).toMatchObject({ kind: 'write' });
  expect(judgeUpdate(request, found, { on: valuesOf(before) })).toMatchObject({
    state: 'conflict',
    outcome: expect.stringMatching(
      /^another user changed it since an earlier try: it is .*: nothing more was sent$/,
    ),
    note: expect.stringContaining('an earlier try sent the change'),
  });
});

const REFUNDED = { ...live().sale, charge_amount_cents: 100, refund_amount_cents: 100 } as never;
test.each([
  ['paid by another user', unpaid, live({ paid_at: EARLIER })],
  ['voided', pay, live({ state: 'voided' })],
  ['refunded', pay, live({ sale: REFUNDED })],
])('one that is %s after a change was lost does not say that nothing was sent', (_, request, found) => {
  expect(judgeUpdate(request, found, { on: null })).toMatchObject({
    outcome: expect.stringMatching(/: nothing more was sent$/),
    note: expect.stringContaining('an earlier try sent the change, and its answer was lost'),
  });
  expect(judgeUpdate(request, found, null)).toMatchObject({
    outcome: expect.stringMatching(/: nothing was sent$/),
    note: expect.not.stringContaining('an earlier try'),
  });
});

test.each([
  [404, 'not_found', 'the affiliate program has no such commission'],
  [422, 'rejected', 'no'],
])('a refusal with %i ends as %s, and says whether a change was sent before', (status, state, outcome) => {
  const error = makeRefusal('no', status);
  expect(refusalOf(error)).toEqual({ kind: 'end', state, outcome, note: null });
  expect(refusalOf(error, { on: null }).note).toContain('an earlier try sent the change');
});

test.each([
  ['marked paid at 2026-10-01T12:00:00Z', null, pay, live({ paid_at: AT })],
  ['marked unpaid', null, unpay, live()],
  ['made payable from 2026-10-01T12:00:00Z', null, due, live({ due_at: AT })],
  [
    'marked paid at 2026-10-01T12:00:00.123Z',
    'the affiliate program stores 2026-10-01T12:00:00Z: it cut the fraction of the second',
    { ...pay, paid_at: '2026-10-01T12:00:00.123Z' },
    live({ paid_at: AT }),
  ],
  [
    'marked paid at 2026-10-01T12:00:00Z',
    'the commission is voided since 2026-10-02T00:00:00Z',
    pay,
    live({ paid_at: AT, voided_at: '2026-10-02T00:00:00Z' }),
  ],
  [
    'marked paid at 2026-10-01T12:00:00Z',
    'changed meanwhile: expected the amount 1.00 USD, but it is 2.00 USD',
    { ...pay, expected_amount: 100, expected_currency: 'USD' },
    live({ paid_at: AT, amount: 200 }),
  ],
])(
  'an answer that holds what was asked ends it as applied: %s, with the note %s',
  (outcome, note, request, answer) => {
    expect(judgeAnswer(request, null, answer)).toEqual({ kind: 'end', state: 'applied', outcome, note });
  },
);

test('an answer that holds something else than was asked is no success', () => {
  const outcome = expect.stringContaining('is unpaid');
  expect(judgeAnswer(pay, null, live())).toMatchObject({ state: 'failed', outcome });
});
