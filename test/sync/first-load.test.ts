// Only the first run of an empty table inserts without comparing; every other one never tries.

import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { runSync } from '../../src/sync/run-sync.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { watchInsertions } from '../support/watch-insertions.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 40, referrals: 600 });

afterEach(async () => {
  vi.restoreAllMocks();
  const { database, sandbox } = given();
  sandbox.setFaults({ shares: {}, exact: [] });
  await database.pool.query(
    'truncate affiliates, campaigns, links, referrals, sync_runs, seen_rows, record_history, covered_counters',
  );
});

test('the first full run of a list inserts, and reading the head again has nothing refused', async () => {
  const { sync, sandbox, database } = given();
  await sync('affiliates');
  const insertions = watchInsertions();
  expect(await sync('referrals')).toMatchObject({ state: 'succeeded', rows_inserted: 600 });
  expect(insertions().sent).toBeGreaterThan(0);
  expect(insertions().refused).toBe(0);
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});

test('a run of what the mirror has, full or delta, tries no insertion, even where records are new', async () => {
  const { syncBoth, sandbox, database } = given();
  await syncBoth();
  for (let index = 0; index < 250; index += 1) await sandbox.program.insertReferral();
  const insertions = watchInsertions();
  const [, referrals] = await syncBoth();
  expect(referrals).toMatchObject({ rows_inserted: 250 });
  for (let index = 0; index < 120; index += 1) await sandbox.program.insertReferral();
  await syncBoth({ mode: 'delta' });
  expect(insertions()).toEqual({ sent: 0, refused: 0 });
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});

test('a delta of an empty mirror reads everything, and ends its insertions once at most', async () => {
  const { syncBoth, sandbox, database } = given();
  const insertions = watchInsertions();
  const [, referrals] = await syncBoth({ mode: 'delta' });
  expect(referrals).toMatchObject({ state: 'succeeded', verified: true, plan: { strategy: 'full' } });
  expect(insertions().refused).toBeLessThanOrEqual(1);
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});

test('a first run that is resumed compares: it reads a page again that it has', async () => {
  const { sync, sandbox, database } = given();
  await sync('affiliates');
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', after: 4, times: 5 }] });
  await expect(sync('referrals')).rejects.toThrow(/50\d/);
  sandbox.setFaults({ shares: {}, exact: [] });
  const insertions = watchInsertions();
  expect(await sync('referrals')).toMatchObject({ is_resumed: true, state: 'succeeded' });
  expect(insertions()).toEqual({ sent: 0, refused: 0 });
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});

test('a first run whose list moves between two batches ends its insertions once, and misses and repeats nothing', async () => {
  const { sync, sandbox, api, db, database } = given();
  await sync('affiliates');
  const count = async () =>
    (await database.pool.query("select from sync_runs where resource = 'referrals' and pages >= 3")).rowCount;
  let asked = 0;
  const moving: typeof api = {
    ...api,
    async list(...request) {
      asked += 1;
      if (asked === 4) {
        await expect.poll(count).toBe(1);
        await sandbox.program.insertReferral();
      }
      return api.list(...request);
    },
  };
  const insertions = watchInsertions();
  const input = { resource: 'referrals', mode: 'full', acceptDeletes: false } as const;
  const run = await runSync({ api: moving, db, log: pino({ level: 'silent' }) }, input);
  expect(run).toMatchObject({
    state: 'succeeded',
    verified: true,
    rows_updated: 0,
    rows_unchanged: 0,
    rows_rejected: 0,
  });
  expect(run.rows_inserted).toBe(run.total_upstream);
  expect(insertions().refused).toBeLessThanOrEqual(1);
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});
