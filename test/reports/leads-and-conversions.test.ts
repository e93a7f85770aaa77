// On which day the reports count a lead and a conversion, of referrals that go back and forth.

import { beforeEach, describe, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { buildCommission, buildReferral, buildSale } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
});

/** A sync on that day of July that sees the referral so. */
const see = (day: number, record: object) =>
  load(db, { resource: 'referrals', pages: [{ observedAt: at((day - 1) * 86_400), records: [record] }] });

async function readFunnel(): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query(
    `select extract(day from day)::int as day, leads, conversions from mirror_reports.referral_funnel_daily
     where day between '2026-07-01' and '2026-07-31' and (leads > 0 or conversions > 0) order by day`,
  );
  return rows;
}

test('a conversion that falls back to a lead is no new lead', async () => {
  const referral = buildReferral({ conversion_state: 'conversion' });
  await see(1, referral);
  await see(2, { ...referral, conversion_state: 'lead' });
  expect(await readFunnel()).toEqual([]);
});

test('a visitor who converts between two syncs became a lead, too, once', async () => {
  const referral = buildReferral({ conversion_state: 'visitor' });
  await see(1, referral);
  await see(2, { ...referral, conversion_state: 'conversion' });
  await see(3, { ...referral, conversion_state: 'visitor' });
  await see(4, { ...referral, conversion_state: 'lead' });
  expect(await readFunnel()).toEqual([{ day: 2, leads: 1, conversions: 1 }]);
});

describe('a conversion that is seen before the program says when it was', () => {
  const lead = buildReferral({ conversion_state: 'lead' });
  const converted = { ...lead, conversion_state: 'conversion' };
  const hour = (day: number, hour: number) => at((day - 1) * 86_400 + hour * 3600);

  const readEvents = async () =>
    (
      await database.pool.query(
        `select converted_at, is_exact, observed_at from conversion_events order by observed_at`,
      )
    ).rows;

  test('happened when the program says', async () => {
    await see(1, lead);
    // A referral within a commission has the fields of the contract alone.
    const commission = buildCommission({ sale: buildSale({ referral: converted }) });
    await load(db, {
      resource: 'commissions',
      pages: [{ observedAt: at(2 * 86_400), records: [commission] }],
    });
    await see(4, { ...converted, became_conversion_at: hour(2, 5) });
    expect(await readEvents()).toEqual([
      { converted_at: hour(2, 5).replace('.000', ''), is_exact: true, observed_at: '2026-07-03T00:00:00Z' },
    ]);
    expect(await readFunnel()).toEqual([{ day: 2, leads: 0, conversions: 1 }]);
  });

  test('is not mixed up with one before, or with one from before the mirror', async () => {
    const stated = { became_conversion_at: hour(2, 5) };
    await see(1, lead);
    await see(3, converted);
    await see(4, { ...converted, ...stated });
    await see(5, { ...lead, ...stated });
    await see(6, { ...converted, ...stated });
    const [first, second] = await readEvents();
    expect(first).toMatchObject({ is_exact: true, observed_at: '2026-07-03T00:00:00Z' });
    expect(second).toMatchObject({ is_exact: false, converted_at: '2026-07-06T00:00:00Z' });
    const earlier = { became_conversion_at: '2026-01-05T00:00:00Z' };
    const other = buildReferral({ conversion_state: 'conversion', ...earlier });
    await see(7, other);
    await see(8, { ...other, conversion_state: 'lead' });
    await see(9, other);
    expect((await readEvents()).slice(2)).toMatchObject([
      { is_exact: true, converted_at: '2026-01-05T00:00:00Z' },
      { is_exact: false, converted_at: '2026-07-09T00:00:00Z' },
    ]);
  });

  test('leaves the one from before the mirror where it was, whatever the program says of the later ones', async () => {
    const earlier = { became_conversion_at: '2026-01-05T00:00:00Z' };
    await see(1, { ...converted, ...earlier });
    await see(2, { ...lead, ...earlier });
    await see(4, { ...converted, became_conversion_at: hour(3, 5) });
    await see(5, { ...lead, became_conversion_at: null });
    await see(6, converted);
    expect(await readEvents()).toEqual([
      { converted_at: '2026-01-05T00:00:00Z', is_exact: true, observed_at: '2026-07-01T00:00:00Z' },
      { converted_at: hour(3, 5).replace('.000', ''), is_exact: true, observed_at: '2026-07-04T00:00:00Z' },
      { converted_at: '2026-07-06T00:00:00Z', is_exact: false, observed_at: '2026-07-06T00:00:00Z' },
    ]);
  });

  test('and one from before the mirror stay where they were, where the program forgets them', async () => {
    const earlier = { became_conversion_at: '2026-01-05T00:00:00Z' };
    const first = {
      converted_at: '2026-01-05T00:00:00Z',
      is_exact: true,
      observed_at: '2026-07-01T00:00:00Z',
    };
    await see(1, { ...converted, ...earlier });
    await see(2, { ...lead, became_conversion_at: null });
    expect(await readEvents()).toEqual([first]);
    await see(4, { ...converted, became_conversion_at: hour(3, 5) });
    const second = {
      converted_at: hour(3, 5).replace('.000', ''),
      is_exact: true,
      observed_at: '2026-07-04T00:00:00Z',
    };
    expect(await readEvents()).toEqual([first, second]);
    await see(5, { ...lead, became_conversion_at: null });
    expect(await readEvents()).toEqual([first, second]);
  });

  test('happened when the program said last, where it corrects its time and then forgets it', async () => {
    await see(1, { ...lead, became_conversion_at: '2026-01-05T00:00:00Z' });
    await see(2, { ...lead, became_conversion_at: '2026-01-06T00:00:00Z' });
    await see(3, { ...lead, became_conversion_at: null });
    expect(await readEvents()).toMatchObject([{ converted_at: '2026-01-06T00:00:00Z', is_exact: true }]);
  });

  test('is one, though its time is stated before its state', async () => {
    const stated = { became_conversion_at: hour(2, 5) };
    await see(1, lead);
    await see(3, { ...lead, ...stated });
    expect(await readFunnel()).toEqual([{ day: 2, leads: 0, conversions: 1 }]);
    await see(4, { ...converted, ...stated });
    expect(await readFunnel()).toEqual([{ day: 2, leads: 0, conversions: 1 }]);
    await see(5, { ...lead, became_conversion_at: null });
    expect((await readEvents()).length).toBe(1);
  });

  test('does not hide one between two syncs that only its time showed', async () => {
    await see(1, lead);
    await see(3, { ...lead, became_conversion_at: hour(2, 5) });
    await see(6, { ...converted, became_conversion_at: hour(5, 5) });
    expect(await readFunnel()).toEqual([
      { day: 2, leads: 0, conversions: 1 },
      { day: 5, leads: 0, conversions: 1 },
    ]);
  });
});

describe('a lead whose time the program states, and then forgets', () => {
  const visitor = buildReferral({ conversion_state: 'visitor', became_lead_at: null });
  const stated = { conversion_state: 'lead', became_lead_at: '2026-07-02T10:00:00Z' };

  test.each([
    ['is from before the mirror', [{ ...visitor, ...stated }]],
    ['was seen', [visitor, { ...visitor, ...stated }]],
  ])('stays on its day, where it %s', async (_, seen) => {
    for (const [index, record] of seen.entries()) await see(1 + 3 * index, record);
    expect(await readFunnel()).toEqual([{ day: 2, leads: 1, conversions: 0 }]);
    await see(9, visitor);
    expect(await readFunnel()).toEqual([{ day: 2, leads: 1, conversions: 0 }]);
    await see(11, { ...visitor, conversion_state: 'lead' });
    expect(await readFunnel()).toEqual([{ day: 2, leads: 1, conversions: 0 }]);
  });

  test('counts on the day that was stated first, where that was corrected', async () => {
    await see(3, { ...visitor, ...stated });
    await see(5, { ...visitor, ...stated, became_lead_at: '2026-07-04T10:00:00Z' });
    expect(await readFunnel()).toEqual([{ day: 4, leads: 1, conversions: 0 }]);
    await see(9, visitor);
    expect(await readFunnel()).toEqual([{ day: 2, leads: 1, conversions: 0 }]);
  });

  test('counts no more, where its referral is gone', async () => {
    await see(3, { ...visitor, ...stated });
    await see(9, visitor);
    await database.pool.query('update referrals set _deleted_at = now()');
    expect(await readFunnel()).toEqual([]);
  });
});
