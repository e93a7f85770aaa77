// Known commissions through a running worker, on both queues: what changes in the program is mirrored without a sync.

import { expect, test } from 'vitest';
import { makeApiClient } from '../../../src/api/client.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { trackCommissions } from '../../../src/payments/poll/track-commissions.ts';
import { makePollSource } from '../../../src/worker/sources/poll-job.ts';
import { runSandbox } from '../../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { makeUnlimitedPermits } from '../../support/unlimited-permits.ts';
import { KINDS, makeQueueing } from '../queue/queueing.ts';

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
});

test('a program that answers none of them is not asked for the others at once', async () => {
  const { db } = await createTestDatabase();
  const log = makeLogger('fatal');
  const program = { url: 'http://127.0.0.1:9', secret: 'x', timeoutMs: 1000, attempts: { most: 1 } };
  const api = makeApiClient({ takePermit: makeUnlimitedPermits().takePermit, log }, program);
  const ids = Array.from({ length: 25 }, (_, index) => `0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c${index + 10}`);
  await trackCommissions(db, ids, 'test');
  const [due] = await makePollSource({ api, db, log }).findDue({ db, nowMs: Date.now(), madeMs: 0 });
  const { signal } = new AbortController();
  expect(await due?.run({ signal, waitedMs: 0 })).toEqual({ kind: 'later', waitMs: 60_000 });
  await api.close();
});
