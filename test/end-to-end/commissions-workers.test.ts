// Batches through a real worker, on either queue: with everything going wrong at once.

import { describe, expect, test } from 'vitest';
import { plainRequest } from '../../src/payments/update-request.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { sized } from '../support/sizes.ts';
import { KINDS } from '../worker/queue/queueing.ts';
import { commissionsOf, makeSetting, outcomes } from './working-batches.ts';

/** Both queues share the code that this is about: `npm test` shows it on one, the long tests on the other. */
const SOME_KINDS = sized(KINDS.slice(0, 1), KINDS.slice(1));

const UPDATES = sized(150, 1500);

const cutToSecond = (timestamp: string | null) => timestamp?.replace(/\.\d+/, '') ?? null;

describe.each(SOME_KINDS)('on %s', (kind) => {
  test(`${UPDATES} updates with everything going wrong each end in the one right state`, async () => {
    const setting = await makeSetting(kind, { affiliates: 50, referrals: UPDATES * 3 + 300 });
    const { pool, sandbox } = setting;
    const commissions = await commissionsOf(pool, UPDATES);
    const expected: string[] = [];
    const requests = commissions.map((commission, index) => {
      const moment = new Date(Date.UTC(2026, 9, 1) + index * 1000 + 250).toISOString();
      const pay = { commission_id: commission.id, action: 'pay', paid_at: moment } as const;
      const [request, state] = ((): [Parameters<typeof plainRequest>[0], string] => {
        if (index % 50 === 0) {
          const commission_id = `00000000-0000-4000-8000-${index.toString().padStart(12, '0')}`;
          return [{ ...pay, commission_id }, 'not_found'];
        }
        if (index % 20 === 1) return [{ ...pay, expected_amount: commission.amount + 1 }, 'conflict'];
        if (commission.is_voided) return [pay, 'rejected'];
        if (index % 10 === 2) {
          return commission.paid_at === null
            ? [{ commission_id: commission.id, action: 'unpay' }, 'unchanged']
            : [{ ...pay, paid_at: commission.paid_at }, 'unchanged'];
        }
        return [pay, 'applied'];
      })();
      expected.push(state);
      return plainRequest(request);
    });
    sandbox.setFaults({
      shares: {
        '5xx': 0.05,
        reset: 0.015,
        'reset-after': 0.015,
        '429': 0.01,
        stall: sized(0.01, 0.003),
        cut: sized(0.02, 0.005),
        html: sized(0.02, 0.005),
      },
      exact: [],
    });
    await setting.ask(requests);
    setting.startWorker({ rateLimit: null });
    await setting.untilFinished(UPDATES);
    sandbox.setFaults(NO_FAULTS);

    const rows = await outcomes(pool);
    expect(rows.map(({ state }) => state)).toEqual(expected);
    const before = new Map(commissions.map(({ id, paid_at }) => [id, paid_at]));
    const puts = setting.puts();
    for (const row of rows) {
      const isApplied = row.state === 'applied';
      if (isApplied) expect(row.program).toBe(cutToSecond(row.paid_at));
      else expect(row.program).toBe(before.get(row.commission_id) ?? null);
      if (row.state !== 'not_found') expect(row.mirrored).toBe(row.program);
      // A PUT for each row that truly differed; every further one is in the attempts. One that was given up
      // without an answer may have gone no further than this machine; one that was answered did arrive.
      const received = puts.get(row.commission_id) ?? 0;
      expect(received).toBeLessThanOrEqual(row.puts);
      expect(received).toBeGreaterThanOrEqual(row.answered);
      expect(received > 0).toBe(isApplied);
    }
    expect(rows.some(({ puts: sent }) => sent > 1)).toBe(true);
  });

  test('a request inserted by hand is applied by a waiting worker that only the insertion wakes', async () => {
    const setting = await makeSetting(kind, { affiliates: 10, referrals: 300 });
    const { pool } = setting;
    const [commission] = await commissionsOf(pool, 1);
    const worker = setting.startWorker({ watchIntervalMs: 600_000 });
    await setting.ask([
      plainRequest({ commission_id: commission?.id ?? '', action: 'due', due_at: '2027-01-01T00:00:00Z' }),
    ]);
    await setting.untilFinished(1);
    await pool.query(`insert into commission_updates (commission_id, action) values ($1, 'unpay')`, [
      commission?.id,
    ]);
    await setting.untilFinished(2);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toEqual({ code: 0, signal: null });
  });
});
