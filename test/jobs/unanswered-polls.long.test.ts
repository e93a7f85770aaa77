// Known commissions of a program that answers none of them, through a running worker, on both queues.

import { expect, test } from 'vitest';
import { trackCommissions } from '../../src/commissions/tracking/track-commissions.ts';
import { countEvery, EVERY_SECOND, KINDS, makeQueueing } from '../queue/queueing.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';

test.each(KINDS)(
  'on %s, a program that answers none of them is not asked for the others at once',
  async (kind) => {
    const { pool: programPool } = await createTestDatabase();
    const sandbox = await runSandbox(programPool);
    sandbox.setFaults({ shares: { '5xx': 1 }, exact: [] });
    const queueing = await makeQueueing(kind, sandbox);
    const { pool, db } = queueing;
    const ids = Array.from({ length: 25 }, (_, index) => `0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c${index + 10}`);
    await trackCommissions(db, ids, 'test');
    const worker = await queueing.start({ counts: [countEvery('a', EVERY_SECOND)] });
    const count = (query: string) => () => pool.query(query).then(({ rows }) => rows[0].count);
    const failed = count('select count(*) from tracked_commissions where last_error is not null');
    // As many as are asked for together.
    await expect.poll(failed).toBe(20);
    const looks = count('select count(*) from counted');
    const soFar = await looks();
    await expect.poll(looks).toBeGreaterThanOrEqual(soFar + 3);
    expect(await failed()).toBe(20);
    await worker.end('SIGTERM');
    await sandbox.close();
  },
);
