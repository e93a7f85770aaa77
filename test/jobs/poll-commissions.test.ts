// Known commissions through a running worker, on both queues: what changes in the program is mirrored without a sync.

import { expect, test } from 'vitest';
import { trackCommissions } from '../../src/commissions/tracking/track-commissions.ts';
import { KINDS, makeQueueing } from '../queue/queueing.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';

test.each(KINDS)('on %s, a tracked commission follows the program until it is gone', async (kind) => {
  const { pool: programPool } = await createTestDatabase();
  const sandbox = await runSandbox(programPool);
  const queueing = await makeQueueing(kind, sandbox);
  const { pool, db } = queueing;
  const found = await programPool.query<{ id: string }>(
    'select id from sandbox.commissions where paid_at is null and voided_at is null order by id limit 1',
  );
  const id = found.rows[0]?.id ?? '';
  const mirrored = async () => {
    const { rows } = await pool.query(
      'select paid_at, _deleted_at is not null as is_deleted from commissions where id = $1',
      [id],
    );
    return rows[0];
  };
  const pollNow = () => pool.query('update tracked_commissions set next_poll_at = now()');

  const worker = await queueing.start();
  await trackCommissions(db, [id], 'test');
  await expect.poll(mirrored).toEqual({ paid_at: null, is_deleted: false });

  await sandbox.program.updateCommission(id, { paid_at: '2026-03-04T05:06:07Z' });
  await pollNow();
  await expect
    .poll(mirrored)
    .toEqual({ paid_at: expect.stringContaining('2026-03-04T05:06:07'), is_deleted: false });

  await sandbox.program.deleteCommission(id);
  await pollNow();
  await expect.poll(mirrored).toMatchObject({ is_deleted: true });
  const { rows: runs } = await pool.query('select from sync_runs');
  expect(runs).toEqual([]);
  await worker.end('SIGTERM');
  await sandbox.close();
});
