// On which day the reports count a lead and a conversion, of referrals that go back and forth.

import { beforeEach, expect, test } from 'vitest';
import { buildCommission, buildReferral, buildSale } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

/** Units: days of July. `0` is before the mirror, `-` is null. */
const momentOf = (day: string) => {
  if (day === '-') return null;
  return day === '0' ? '2026-01-05T00:00:00Z' : at((Number(day) - 1) * 86_400 + 5 * 3600);
};

const loadOn = (day: number, resource: 'referrals' | 'commissions', record: object) =>
  load(database.db, { resource, pages: [{ observedAt: at((day - 1) * 86_400), records: [record] }] });

/** Syncs, each as `day state`, with the days on which the program says that the lead (l) or conversion (c) began. */
async function see(syncs: string): Promise<void> {
  const referral = buildReferral({});
  for (const sync of syncs.split(', ')) {
    const [day, conversion_state, ...stated] = sync.split(' ');
    const record: Record<string, unknown> = { ...referral, conversion_state };
    for (const one of stated) {
      record[one.startsWith('l') ? 'became_lead_at' : 'became_conversion_at'] = momentOf(one.slice(1));
    }
    await loadOn(Number(day), 'referrals', record);
  }
}

/** Returns the leads and conversions of each day of July that has any. */
async function readFunnel(): Promise<string> {
  const { rows } = await database.pool.query<{ one: string }>(
    `select format('%s: %s %s', extract(day from day), leads, conversions) as one
     from mirror_reports.referral_funnel_daily
     where day between '2026-07-01' and '2026-07-31' and (leads > 0 or conversions > 0) order by day`,
  );
  return rows.map(({ one }) => one).join(', ');
}

/** Returns the conversions: when they were, and when they were seen. */
async function readEvents(): Promise<string> {
  const { rows } = await database.pool.query<{ one: string }>(
    `select format('%s %s, seen %s', to_char(converted_at at time zone 'UTC', 'MM-DD HH24'),
       case when is_exact then 'exactly' else 'about' end, to_char(observed_at at time zone 'UTC', 'MM-DD')) as one
     from conversion_events order by observed_at`,
  );
  return rows.map(({ one }) => one).join('; ');
}

test.each([
  ['a conversion that falls back is no new lead', '1 conversion, 2 lead', ''],
  [
    'a visitor who converts between two syncs became a lead, too, once',
    '1 visitor, 2 conversion, 3 visitor, 4 lead',
    '2: 1 1',
  ],
  ['the time of a conversion is stated before its state', '1 lead, 3 lead c2, 4 conversion c2', '2: 0 1'],
  ['one conversion was shown by its time alone', '1 lead, 3 lead c2, 6 conversion c5', '2: 0 1, 5: 0 1'],
  ['a lead from before the mirror is forgotten', '1 lead l2, 9 visitor l-, 11 lead l-', '2: 1 0'],
  ['a lead that was seen is forgotten', '1 visitor l-, 4 lead l2, 9 visitor l-, 11 lead l-', '2: 1 0'],
  ['the time of a lead is corrected', '3 lead l2, 5 lead l4', '4: 1 0'],
  ['the time of a lead is corrected and then forgotten', '3 lead l2, 5 lead l4, 9 visitor l-', '2: 1 0'],
])('the funnel where %s: %s', async (_, syncs, funnel) => {
  await see(syncs);
  expect(await readFunnel()).toBe(funnel);
});

test.each([
  [
    'is not mixed up with one before',
    '1 lead, 3 conversion, 4 conversion c2, 5 lead c2, 6 conversion c2',
    '07-02 05 exactly, seen 07-03; 07-06 00 about, seen 07-06',
  ],
  [
    'is not mixed up with one from before the mirror',
    '7 conversion c0, 8 lead c0, 9 conversion c0',
    '01-05 00 exactly, seen 07-07; 07-09 00 about, seen 07-09',
  ],
  [
    'leaves the one from before the mirror where it was',
    '1 conversion c0, 2 lead c0, 4 conversion c3, 5 lead c-, 6 conversion',
    '01-05 00 exactly, seen 07-01; 07-03 05 exactly, seen 07-04; 07-06 00 about, seen 07-06',
  ],
  [
    'stays where it was, where the program forgets it',
    '1 conversion c0, 2 lead c-, 4 conversion c3, 5 lead c-',
    '01-05 00 exactly, seen 07-01; 07-03 05 exactly, seen 07-04',
  ],
  [
    'happened when the program said last, where it corrects its time and then forgets it',
    '3 lead c1, 4 lead c2, 5 lead c-',
    '07-02 05 exactly, seen 07-03',
  ],
])('a conversion %s: %s', async (_, syncs, events) => {
  await see(syncs);
  expect(await readEvents()).toBe(events);
});

test('a conversion that a commission shows first happened when the program says', async () => {
  const lead = buildReferral({ conversion_state: 'lead' });
  const converted = { ...lead, conversion_state: 'conversion' };
  await loadOn(1, 'referrals', lead);
  // A referral within a commission has the fields of the contract alone.
  await loadOn(3, 'commissions', buildCommission({ sale: buildSale({ referral: converted }) }));
  await loadOn(4, 'referrals', { ...converted, became_conversion_at: momentOf('2') });
  expect(await readEvents()).toBe('07-02 05 exactly, seen 07-03');
  expect(await readFunnel()).toBe('2: 0 1');
});

test('a lead counts no more, where its referral is gone', async () => {
  await see('3 lead l2, 9 visitor l-');
  await database.pool.query('update referrals set _deleted_at = now()');
  expect(await readFunnel()).toBe('');
});
