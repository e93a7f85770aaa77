// Payouts through real workers that are killed and stopped, with everything going wrong at once.

import { describe, expect, test } from 'vitest';
import { type PayoutRequest, plainPayout } from '../../src/payments/payout-request.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { sized } from '../support/sizes.ts';
import { KINDS } from '../worker/queue/queueing.ts';
import { makeSetting, type Setting } from './working-batches.ts';

const SOME_KINDS = sized(KINDS.slice(0, 1), KINDS);
const PAYOUTS = sized(40, 1000);
const OF_EACH = sized(3, 12);

/** Makes payouts of the program's own commissions, and returns what is asked of each, and how it is to end. */
async function makePayouts({ pool, sandbox }: Setting) {
  await pool.query(
    `update sandbox.commissions set state = 'due', paid_at = null, voided_at = null, payout_id = null;
     delete from sandbox.payouts`,
  );
  const { rows } = await pool.query<{ ids: string[] }>(
    `select array_agg(id) as ids from (
       select *, (row_number() over (partition by affiliate_id, currency order by id) - 1) / ${OF_EACH} as part
       from sandbox.commissions) numbered
     group by affiliate_id, currency, part having count(*) = ${OF_EACH} order by min(id) limit ${PAYOUTS}`,
  );
  expect(rows).toHaveLength(PAYOUTS);
  const asked: { request: PayoutRequest; state: string; ids: string[] }[] = [];
  for (const [index, { ids }] of rows.entries()) {
    const payout = await sandbox.program.insertPayout({ commissionIds: ids });
    const expected = {
      payout_id: payout.id,
      expected_amount: Number(payout.amount),
      expected_currency: payout.currency,
      expected_commissions: ids.length,
    };
    const kind = index % 20;
    if (kind === 2) await sandbox.program.deletePayout(payout.id);
    if (kind === 3) await sandbox.program.updateCommission(ids[0] ?? '', { paid_at: '2026-10-01T00:00:00Z' });
    if (kind === 4) await sandbox.program.finishPayout(payout.id);
    const state = ['applied', 'conflict', 'not_found', 'conflict', 'unchanged'][kind] ?? 'applied';
    const request = kind === 1 ? { ...expected, expected_amount: expected.expected_amount + 1 } : expected;
    asked.push({ request: plainPayout(request), state, ids });
  }
  return asked;
}

async function statesOf({ pool }: Setting, ids: readonly number[]): Promise<string[]> {
  const { rows } = await pool.query<{ state: string }>(
    'select state from commission_updates where id = any($1) order by id',
    [ids],
  );
  return rows.map(({ state }) => state);
}

describe.each(SOME_KINDS)('on %s', (kind) => {
  test(`${PAYOUTS} payouts each end in the one right state, through faults, kills and stops`, async () => {
    const setting = await makeSetting(kind, {
      affiliates: sized(20, 200),
      referrals: sized(1500, 60_000),
      optionalLists: ['payouts'],
    });
    const { pool, sandbox } = setting;
    const asked = await makePayouts(setting);
    await sandbox.program.setProcessing(300);
    const shares = { '5xx': 0.05, reset: 0.02, 'reset-after': 0.02, '429': 0.01, cut: 0.02, html: 0.02 };
    sandbox.setFaults({ shares, exact: [] });
    const ids = await setting.ask(asked.map(({ request }) => request));
    for (const [signal, share] of [
      ['SIGKILL', 0.2],
      ['SIGTERM', 0.5],
      ['SIGKILL', 0.7],
    ] as const) {
      const worker = setting.startWorker({ rateLimit: null });
      await setting.untilFinished(PAYOUTS * share);
      worker.child.kill(signal);
      await worker.ended;
    }
    setting.startWorker({ rateLimit: null });
    await setting.untilFinished(PAYOUTS);
    sandbox.setFaults(NO_FAULTS);

    expect(await statesOf(setting, ids)).toEqual(asked.map(({ state }) => state));
    // No payment was sent again once a reading or an answer said that it is being paid, or is.
    const twice = await pool.query(
      `select from commission_update_attempts put
       join commission_update_attempts said using (update_id)
       where put.method = 'PUT' and (put.error is null or put.error not like 'not sent: %')
         and said.received ->> 'state' in ('processing', 'paid') and said.sent_at < put.sent_at`,
    );
    expect(twice.rowCount).toBe(0);
    // Just the commissions of the payouts that were paid are paid, there and here.
    const wanted = asked.flatMap((one) => (one.state === 'applied' ? one.ids : [])).toSorted();
    const paid = await pool.query<{ id: string }>(
      `select commission.id from sandbox.commissions commission
       join commission_updates request on request.state = 'applied' and commission.id = any(request.commission_ids)
       where commission.paid_at is not null order by commission.id collate "C"`,
    );
    expect(paid.rows.map(({ id }) => id)).toEqual(wanted);
    const others = await pool.query(
      `select from sandbox.commissions where paid_at is not null and id <> all($1)`,
      [[...wanted, ...asked.flatMap(({ ids: own, state }) => (state === 'applied' ? [] : own))]],
    );
    expect(others.rowCount).toBe(0);
    const differing = await pool.query(
      `select theirs.id, theirs.paid_at, theirs.payout_id, ours.paid_at as mirrored, ours._observed_at
       from sandbox.commissions theirs join mirror.commissions ours using (id)
       where (theirs.paid_at, theirs.payout_id) is distinct from (ours.paid_at, ours.payout_id) and theirs.id = any($1)`,
      [wanted],
    );
    expect(differing.rows).toEqual([]);

    // Asked again, nothing is sent.
    const sent = () => sandbox.requests.filter(({ method }) => method === 'PUT').length;
    const before = sent();
    const paidOnes = asked.filter(({ state }) => state === 'applied').map(({ request }) => request);
    const again = await setting.ask(paidOnes);
    await setting.untilFinished(PAYOUTS + paidOnes.length);
    expect(await statesOf(setting, again)).toEqual(paidOnes.map(() => 'unchanged'));
    expect(sent()).toBe(before);
  });
});
