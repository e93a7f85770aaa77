// What was read while the clock of Postgres was ahead, once that clock is right again.

import { beforeEach, expect, test } from 'vitest';
import { markCommissionsDeleted } from '../../src/commissions/mirror-commissions.ts';
import { readNow } from '../../src/db/clock.ts';
import {
  readMirror,
  readMirrorEarnings,
  readProgram,
  readProgramEarnings,
} from '../support/compare-with-program.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 12, referrals: 150, optionalLists: ['commissions'] });

/** As if everything until now had been done by a clock that was a day ahead. */
beforeEach(async () => {
  const { database, syncAll } = given();
  await syncAll();
  for (const table of ['campaigns', 'affiliates', 'links', 'referrals', 'sales', 'commissions']) {
    await database.pool.query(
      `update ${table} set _observed_at = clock_timestamp() + interval '1 day',
         _first_seen_at = _first_seen_at + interval '1 day'`,
    );
  }
  await database.pool.query(
    "update sync_runs set started_at = started_at + interval '1 day', finished_at = finished_at + interval '1 day'",
  );
});

async function expectEqual(): Promise<void> {
  const { database, sandbox } = given();
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
  expect(await readMirrorEarnings(database.pool)).toEqual(await readProgramEarnings(sandbox));
}

test('changes are stored all the same, of records and of what is nested in them', async () => {
  const { sandbox, syncAll, database } = given();
  const [unpaid] = (await sandbox.commissions('?state=due&limit=1')).data;
  await sandbox.put(unpaid?.id ?? '', 'paid_at=2026-09-01T00:00:00Z');
  await database.pool.query(
    `update sandbox.affiliates set visitors = visitors + 7;
     update sandbox.links set visitors = visitors + 7;
     update sandbox.referrals set visits = visits + 7`,
  );
  for (const run of await syncAll()) expect(run).toMatchObject({ state: 'succeeded', verified: true });
  await expectEqual();
});

test('deletions are marked all the same, with the links and sales that go with them', async () => {
  const { sandbox, syncAll } = given();
  const { rows } = await given().database.pool.query<{ id: string }>(
    'select id from sandbox.affiliates order by id limit 1',
  );
  const [commission] = (await sandbox.commissions('?limit=1')).data;
  await sandbox.program.deleteCommission(commission?.id ?? '');
  await sandbox.program.deleteAffiliate(rows[0]?.id ?? '');
  const [affiliates] = await syncAll();
  expect(affiliates).toMatchObject({ deleted: 1 });
  await expectEqual();
});

test('a commission that the program was asked for alone, and does not have, is marked all the same', async () => {
  const { db, database } = given();
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from commissions where _deleted_at is null order by id limit 1',
  );
  const [{ id } = { id: '' }] = rows;
  const askedAt = await readNow(db);
  await db.transaction().execute((trx) => markCommissionsDeleted(trx, [{ id, askedAt }]));
  const marked = await database.pool.query('select id from commissions where _deleted_at = $1', [askedAt]);
  expect(marked.rows).toEqual([{ id }]);
});
