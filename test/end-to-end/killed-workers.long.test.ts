// Batches through real workers that are killed, on both queues.

import { expect, test } from 'vitest';
import { plainRequest } from '../../src/payments/update-request.ts';
import { KINDS } from '../worker/queue/queueing.ts';
import { commissionsOf, makeSetting, outcomes } from './working-batches.ts';

const UPDATES = 360;
const KILLS = 6;

test.each(KINDS)(
  `on %s, workers killed ${KILLS} times in a batch of ${UPDATES} leave each change made once`,
  async (kind) => {
    const setting = await makeSetting(kind, { affiliates: 20, referrals: UPDATES * 4 });
    const { pool, redis } = setting;
    const commissions = (await commissionsOf(pool, Math.ceil(UPDATES * 1.1)))
      .filter(({ is_voided }) => !is_voided)
      .slice(0, UPDATES);
    await setting.ask(
      commissions.map(({ id }) =>
        plainRequest({ commission_id: id, action: 'pay', paid_at: '2026-10-05T12:00:00Z' }),
      ),
    );
    for (let kills = 1; kills <= KILLS; kills += 1) {
      const worker = setting.startWorker();
      const more = Math.ceil(Math.random() * 0.8 * (UPDATES / KILLS));
      const target = Math.min(0.95 * UPDATES, (await setting.finished()) + more);
      await expect.poll(setting.finished, { interval: 5 }).toBeGreaterThanOrEqual(target);
      worker.child.kill('SIGKILL');
      await worker.ended;
      if (kills === Math.ceil(KILLS / 2) && redis !== null) {
        await redis.stop();
        await redis.wipe();
        await redis.start();
      }
    }
    setting.startWorker();
    await setting.untilFinished(UPDATES);

    const puts = setting.puts();
    const rows = await outcomes(pool);
    expect(rows.length).toBe(UPDATES);
    for (const row of rows) {
      expect(row).toMatchObject({ state: 'applied', program: row.paid_at, mirrored: row.paid_at });
      const received = puts.get(row.commission_id) ?? 0;
      expect(received).toBeGreaterThanOrEqual(1);
      // What was announced and not answered may or may not have left; nothing left unannounced.
      expect(received).toBeLessThanOrEqual(row.puts);
      expect(received).toBeGreaterThanOrEqual(row.answered);
    }
  },
);
