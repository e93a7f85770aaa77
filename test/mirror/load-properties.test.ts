// What must hold for any pages in any order: counts that add up, the newest observation, no deadlock.

import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { makeFirstLoad } from '../../src/mirror/send-rows.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import { buildAffiliate, buildLink, buildReferral } from './build-records.ts';
import { at, counts, load, rowsOf } from './load.ts';

const { db } = await createTestDatabase();

const empty = () =>
  sql`truncate campaigns, affiliates, links, referrals, sync_runs, seen_rows, rejected_records, record_history
    restart identity`.execute(db);

const referrals = Array.from({ length: 6 }, () => buildReferral());
const affiliates = Array.from({ length: 2 }, () => buildAffiliate());
// One each: a link that went back and forth between two owners would be content that changes back.
const links = affiliates.map(() => buildLink());

/** One observation of one of few referrals: changed, shortened, broken or nameless. */
const observation = fc.record({
  which: fc.nat({ max: referrals.length - 1 }),
  broken: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  withCustomer: fc.boolean(),
  withExtra: fc.boolean(),
  nameless: fc.integer({ min: 0, max: 19 }).map((dice) => dice === 0),
  affiliate: fc.nat({ max: affiliates.length - 1 }),
});

type Observation = typeof observation extends fc.Arbitrary<infer T> ? T : never;

// Content changes with time and never back: a record that changes and changes back between three answers, which then
// arrive out of order, is the one case in which the load cannot tell (an unchanged row does not note its observation).
function toRecord(seen: Observation, time: number): Record<string, unknown> {
  const { customer, id, ...rest } = referrals[seen.which] ?? buildReferral();
  const visitors = Math.floor(time / 3);
  return {
    ...rest,
    ...(seen.nameless ? {} : { id }),
    ...(seen.withCustomer ? { customer } : {}),
    ...(seen.withExtra ? { [`new_${time % 2}`]: visitors } : {}),
    conversion_state: `after ${Math.floor(time / 4)}`,
    visits: seen.broken ? '?' : Math.floor(time / 2),
    link: { ...links[seen.affiliate], visitors },
    affiliate: { ...affiliates[seen.affiliate], visitors },
  };
}

// Observation times are unique: of two answers of one time that differ, neither is newer.
const batches = fc
  .array(fc.array(fc.array(observation, { maxLength: 9 }), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 5,
  })
  .chain((shape) => {
    const pages = shape.flat().length;
    return fc
      .shuffledSubarray(
        Array.from({ length: pages }, (_, index) => index + 1),
        { minLength: pages, maxLength: pages },
      )
      .map((times) => {
        let next = 0;
        return shape.map((batch) =>
          batch.map((page) => {
            const time = times[next++] ?? 0;
            return { observedAt: at(time), records: page.map((seen) => toRecord(seen, time)) };
          }),
        );
      });
  });

type Batches = typeof batches extends fc.Arbitrary<infer T> ? T : never;

const PLAIN: Observation = {
  which: 0,
  broken: false,
  withCustomer: true,
  withExtra: false,
  nameless: false,
  affiliate: 0,
};

/** Pages of one batch, each asked for at its time. */
const batchOf = (...pages: readonly [time: number, seen: readonly Observation[]][]) =>
  pages.map(([time, seen]) => ({ observedAt: at(time), records: seen.map((one) => toRecord(one, time)) }));

/** Nothing; a record twice on a page; the older page last, in a batch and in the next; broken where it was well. */
const EDGES: [ReturnType<typeof batchOf>[]][] = [
  [[batchOf([1, []])]],
  [[batchOf([1, [PLAIN, PLAIN]])]],
  [[batchOf([8, [PLAIN]], [4, [{ ...PLAIN, withExtra: true, withCustomer: false }]])]],
  [[batchOf([8, [PLAIN]]), batchOf([4, [{ ...PLAIN, affiliate: 1 }]])]],
  [[batchOf([1, [PLAIN]], [4, [{ ...PLAIN, broken: true }]]), batchOf([8, [{ ...PLAIN, nameless: true }]])]],
];

/** Outside a run the pages of a batch are read together; in one, each is read alone and they are joined. */
const WAYS = [
  { way: 'read together', begin: async () => ({}) },
  {
    way: 'read one by one',
    begin: async () => ({ runId: (await startRun(db, { resource: 'referrals', mode: 'full' })).id }),
  },
];

test.each(WAYS)(
  'a row carries the newest good observation of each record, in whatever order and batches pages come, $way',
  async ({ begin }) => {
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        await empty();
        const run = await begin();
        for (const pages of all) await load(db, { resource: 'referrals', pages, ...run });
        const newest = new Map<unknown, { observedAt: string; record: Record<string, unknown> }>();
        for (const { observedAt, records } of all
          .flat()
          .toSorted((a, b) => (a.observedAt < b.observedAt ? -1 : 1))) {
          for (const record of records) {
            if (typeof record['visits'] === 'number' && record['id'] !== undefined) {
              newest.set(record['id'], { observedAt, record });
            }
          }
        }
        const rows = await rowsOf(db, 'referrals');
        expect(rows.map(({ id }) => id)).toEqual([...newest.keys()].sort());
        for (const row of rows) {
          const record = newest.get(row['id'])?.record;
          expect([row['conversion_state'], row['visits']]).toEqual([
            record?.['conversion_state'],
            record?.['visits'],
          ]);
        }
      }),
      { numRuns: sized(12, 60), examples: EDGES },
    );
  },
);

test('a first load counts, stores and remembers what a run that compares does, whatever comes twice', async () => {
  const loadAll = async (all: Batches, isOn: boolean) => {
    await empty();
    const run = await startRun(db, { resource: 'referrals', mode: 'full' });
    const firstLoad = makeFirstLoad(isOn);
    const counted = [];
    for (const pages of all) {
      const loaded = await load(db, { resource: 'referrals', runId: run.id, pages, firstLoad });
      counted.push({ ...counts(loaded), fresh: loaded.fresh });
    }
    const tables = [
      'campaigns',
      'affiliates',
      'links',
      'referrals',
      'record_history',
      'rejected_records',
    ] as const;
    // Numbers too: an insertion that was undone has used some.
    const rows = tables.map(async (table) =>
      (await rowsOf(db, table as never)).map(({ _changed_at, recorded_at, _row_number, run_id, ...row }) =>
        'record_id' in row ? { ...row, id: null } : row,
      ),
    );
    const seen = await sql`
      select array(select r.id from referrals r where r._row_number = any(row_numbers) order by 1) as ids, rejected_ids
      from seen_rows order by ctid`.execute(db);
    return { counted, rows: await Promise.all(rows), seen: seen.rows };
  };
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      expect(await loadAll(all, true)).toEqual(await loadAll(all, false));
    }),
    { numRuns: sized(12, 60), examples: EDGES },
  );
});
