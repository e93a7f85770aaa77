// The delta sync where little changed: 0.1 % of 30,000 referrals. What it costs at 100,000 is measured by the bench.

import { beforeAll, expect, test } from 'vitest';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { useSyncing } from '../sync/syncing.ts';

const AFFILIATES = 300;
const REFERRALS = 30_000;
const CHANGED = 30;
const CHANGED_AFFILIATES = 6;
const given = useSyncing({ affiliates: AFFILIATES, referrals: REFERRALS });

beforeAll(async () => {
  await given().syncBoth();
});

test('a delta costs at most a tenth of a full walk, and leaves the mirror equal to the program', async () => {
  const { sandbox, syncBoth, database } = given();
  const received = () => sandbox.requests.at(-1)?.number ?? 0;
  const { rows: affiliates } = await database.pool.query(
    `select affiliate_id as id from referrals where conversion_state = 'visitor'
     group by affiliate_id having count(*) >= $1 order by affiliate_id limit $2`,
    [CHANGED / CHANGED_AFFILIATES, CHANGED_AFFILIATES],
  );
  let pages = 0;
  for (const { id } of affiliates) {
    const { rows } = await database.pool.query(
      `select id from referrals where affiliate_id = $1 and conversion_state = 'visitor' order by id limit $2`,
      [id, CHANGED / CHANGED_AFFILIATES],
    );
    for (const referral of rows) {
      await sandbox.program.updateReferral(referral.id, { conversion_state: 'lead' });
    }
    pages += (await sandbox.referrals(`?affiliate_id=${id}&limit=100`)).pagination.total_pages;
  }
  await sandbox.program.updateAffiliate(affiliates[0].id, { first_name: 'Renamed' });

  const before = received();
  const [, referrals] = await syncBoth({ mode: 'delta' });
  const requests = received() - before;
  expect(referrals).toMatchObject({
    state: 'succeeded',
    verified: true,
    rows_inserted: 0,
    rows_updated: CHANGED,
  });
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
  expect(requests).toBeLessThanOrEqual(AFFILIATES / 100 + 1 + pages);
  expect(requests).toBeLessThanOrEqual((AFFILIATES + REFERRALS) / 100 / 10);
  const { rows } = await database.pool.query('select plan from sync_runs where id = $1', [referrals?.id]);
  expect(rows[0].plan).toEqual({
    strategy: 'delta',
    moved_affiliates: CHANGED_AFFILIATES,
    expected_requests: 1 + pages,
    full_walk_requests: REFERRALS / 100 + 1,
  });
});

test('a delta of an unchanged program costs the pages of the affiliates and one request', async () => {
  const { sandbox, syncBoth } = given();
  const before = sandbox.requests.at(-1)?.number ?? 0;
  await syncBoth({ mode: 'delta' });
  expect((sandbox.requests.at(-1)?.number ?? 0) - before).toBe(AFFILIATES / 100 + 1);
});

test('a delta catches new referrals, new affiliates and new links', async () => {
  const { sandbox, syncBoth, database } = given();
  const newcomer = await sandbox.program.insertAffiliate();
  const referral = await sandbox.program.insertReferral({ affiliate_id: newcomer.id });
  await syncBoth({ mode: 'delta' });
  const found = await database.pool.query('select affiliate_id from referrals where id = $1', [referral.id]);
  expect(found.rows).toEqual([{ affiliate_id: newcomer.id }]);
  const links = await sandbox.affiliates(`?email=${encodeURIComponent(newcomer.email)}&expand=links`);
  const mirrored = await database.pool.query('select id from links where affiliate_id = $1', [newcomer.id]);
  expect(mirrored.rows.map(({ id }) => id).sort()).toEqual(links.data[0]?.links?.map(({ id }) => id).sort());
});
