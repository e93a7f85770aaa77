// What a delta sync catches, what it costs where nothing changed, and when it reads everything after all.

import { beforeAll, describe, expect, test } from 'vitest';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 300, referrals: 2500 });

async function requestsOf(work: () => Promise<unknown>): Promise<number> {
  const { sandbox } = given();
  const before = sandbox.requests.at(-1)?.number ?? 0;
  await work();
  return (sandbox.requests.at(-1)?.number ?? 0) - before;
}

async function deltaEqualsProgram(): Promise<void> {
  const { sandbox, database } = given();
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
}

beforeAll(async () => {
  await given().syncBoth();
});

describe('a delta sync', () => {
  test('costs the affiliates’ pages and one request more where nothing changed', async () => {
    const requests = await requestsOf(async () => {
      const [affiliates, referrals] = await given().syncBoth({ mode: 'delta' });
      expect(affiliates).toMatchObject({
        mode: 'delta',
        state: 'succeeded',
        rows_updated: 0,
        rows_inserted: 0,
      });
      expect(referrals).toMatchObject({
        mode: 'delta',
        state: 'succeeded',
        rows_updated: 0,
        rows_inserted: 0,
      });
    });
    expect(requests).toBe(3 + 1);
  });

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

  test('costs two requests more than a full sync at most, however much is new where it has to read everything', async () => {
    const { sandbox, syncBoth, database } = given();
    for (let index = 0; index < 650; index += 1) await sandbox.program.insertReferral();
    const { rows } = await database.pool.query(
      `select distinct on (affiliate_id) id from referrals where conversion_state = 'lead'`,
    );
    for (const { id } of rows.slice(0, 150)) {
      await sandbox.program.updateReferral(id, { conversion_state: 'conversion' });
    }
    const delta = await requestsOf(async () => {
      const [, referrals] = await syncBoth({ mode: 'delta' });
      expect(referrals).toMatchObject({
        verified: true,
        plan: { strategy: 'full' },
        rows_inserted: 650,
      });
    });
    await deltaEqualsProgram();
    expect(delta).toBeLessThanOrEqual((await requestsOf(() => syncBoth())) + 2);
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

  test('takes back what a full sync saw that began before it and has ended since', async () => {
    const { sandbox, sync, syncBoth } = given();
    const [lead] = await sandbox.allReferrals('conversion_state=lead');
    const id = lead?.id ?? '';
    await sync('affiliates');
    await sandbox.program.updateReferral(id, { conversion_state: 'conversion' });
    await sync('referrals');
    // The affiliates' counters are again what they were when the referrals' run began.
    await sandbox.program.updateReferral(id, { conversion_state: 'lead' });
    await syncBoth({ mode: 'delta' });
    await deltaEqualsProgram();
  });

  test('does not see a renamed customer; the next full sync does', async () => {
    const { sandbox, syncBoth, database } = given();
    const { rows } = await database.pool.query(
      'select id from referrals where customer_id is not null and _deleted_at is null limit 1',
    );
    const { id } = rows[0];
    await sandbox.program.updateReferral(id, { customer_name: 'Somebody Else' });
    const name = async () => {
      const { rows } = await database.pool.query('select customer_name from referrals where id = $1', [id]);
      return rows[0].customer_name;
    };
    const before = await name();
    await syncBoth({ mode: 'delta' });
    expect(await name()).toBe(before);
    await syncBoth();
    expect(await name()).toBe('Somebody Else');
  });
});
