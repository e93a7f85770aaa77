// The program's own sums, against those of the mirror once it knows every commission.

import { expect, test } from 'vitest';
import { readCommissionDifferences } from '../../src/reports/read-health.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({
  affiliates: 12,
  referrals: 250,
  spelling: 'live',
  optionalLists: ['commissions'],
});

test('where all are read from the list, differences are counted, and one that nothing explains is found', async () => {
  const { database, db, sandbox, syncAll } = given();
  await database.pool.query(`update optional_lists set setting = 'on'`);
  expect((await readCommissionDifferences({ db, mirrorSchema: 'mirror' })).rows[0]).toMatchObject({
    differences: null,
  });
  await syncAll();
  expect((await readCommissionDifferences({ db, mirrorSchema: 'mirror' })).rows[0]).toMatchObject({
    differences: 0,
  });
  // What was paid since is explained: the sums were reported before it.
  const [due] = (await sandbox.commissions('?state=due&limit=1')).data;
  await sandbox.put(due?.id ?? '', 'paid_at=2026-09-01T00:00:00Z');
  await given().sync('commissions');
  expect((await readCommissionDifferences({ db, mirrorSchema: 'mirror' })).rows[0]).toMatchObject({
    differences: 0,
  });
  await syncAll();
  await database.pool.query('update commissions set amount = amount + 1 where id = $1', [due?.id]);
  expect((await readCommissionDifferences({ db, mirrorSchema: 'mirror' })).rows[0]).toMatchObject({
    differences: 1,
  });
});
