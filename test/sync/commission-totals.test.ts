// The program's own sums, against those of the mirror once it knows every commission.

import { expect, test } from 'vitest';
import { mirrorCommissions } from '../../src/commissions/mirror-commissions.ts';
import { readCommissionDifferences } from '../../src/reports/read-health.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({
  affiliates: 12,
  referrals: 250,
  spelling: 'live',
  optionalLists: ['commissions'],
});

test('the sums of known commissions grow to the program’s own, and then nothing is unknown', async () => {
  const { database, api, db, sync } = given();
  await sync('affiliates');
  const unknown = async () => {
    const { rows } = await database.pool.query(
      `select count(*) filter (where unknown_total <> 0 or unknown_paid <> 0 or unknown_unpaid <> 0) as affiliates,
              sum(unknown_total)::bigint as cents, sum(known_commissions)::bigint as known
       from commission_totals`,
    );
    return rows[0];
  };
  const before = await unknown();
  expect(before).toMatchObject({ known: 0 });
  expect(before.cents).toBeGreaterThan(0);
  const { rows } = await database.pool.query<{ id: string }>('select id from sandbox.commissions');
  for (const { id } of rows) {
    const { commission, askedAt } = await api.getCommission(id);
    await db.transaction().execute((trx) => mirrorCommissions(trx, [{ commission, observedAt: askedAt }]));
  }
  const after = await unknown();
  expect(after.known).toBeGreaterThan(0);
  expect(after).toMatchObject({ affiliates: 0, cents: 0 });
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
