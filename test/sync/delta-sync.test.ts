// What a delta sync catches, what it costs where nothing changed, and when it reads everything after all.

import { beforeAll, describe, expect, test } from 'vitest';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 300, referrals: 2500 });

async function deltaEqualsProgram(): Promise<void> {
  const { sandbox, database } = given();
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
}

beforeAll(async () => {
  await given().syncBoth();
});

describe('a delta sync', () => {
  test('takes the changes that a killed delta had loaded in part', async () => {
    const { sandbox, sync, syncBoth, database } = given();
    for (let index = 0; index < 150; index += 1) await sandbox.program.insertReferral();
    await sync('affiliates', { mode: 'delta' });
    const already = (await database.pool.query('select count(*) as count from referrals')).rows[0].count;
    sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', after: 1, times: 5 }] });
    await expect(sync('referrals', { mode: 'delta' })).rejects.toThrow(/50\d/);
    sandbox.setFaults({ shares: {}, exact: [] });
    const loaded = (await database.pool.query('select count(*) as count from referrals')).rows[0].count;
    expect(loaded - already).toBe(100);
    await syncBoth({ mode: 'delta' });
    await deltaEqualsProgram();
  });

  test('reads the whole list where so much changed that it costs no more', async () => {
    const { sandbox, syncBoth, database } = given();
    const { rows } = await database.pool.query(
      `select distinct on (affiliate_id) id from referrals where conversion_state = 'visitor'`,
    );
    for (const { id } of rows.slice(0, 150)) {
      await sandbox.program.updateReferral(id, { conversion_state: 'lead' });
    }
    const [, referrals] = await syncBoth({ mode: 'delta' });
    expect(referrals).toMatchObject({ state: 'succeeded', verified: true, rows_updated: 150 });
    const { rows: runs } = await database.pool.query('select plan from sync_runs where id = $1', [
      referrals?.id,
    ]);
    expect(runs[0].plan).toMatchObject({ strategy: 'full' });
    await deltaEqualsProgram();
  });

  test('is not verified where a moved affiliate has a record without a usable identifier', async () => {
    const { sandbox, syncBoth } = given();
    const [lead] = await sandbox.allReferrals('conversion_state=lead&expand=affiliate');
    await sandbox.program.updateReferral(lead?.id ?? '', { conversion_state: 'conversion' });
    const affiliate_id = lead?.affiliate?.id ?? '';
    await sandbox.program.insertReferral({ id: 'no-uuid', affiliate_id });
    const [, referrals] = await syncBoth({ mode: 'delta' });
    expect(referrals).toMatchObject({
      state: 'partial',
      verified: false,
      reason: expect.stringMatching(/the list has a record without a usable identifier/),
      rows_updated: 1,
      rows_rejected: 1,
    });
    await sandbox.program.deleteReferral('no-uuid');
  });
});
