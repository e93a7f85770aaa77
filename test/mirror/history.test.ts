import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import { buildReferral } from './build-records.ts';
import { at, load, rowsOf } from './load.ts';

let db: Database;

beforeAll(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

beforeEach(async () => {
  await sql`truncate campaigns, affiliates, links, referrals, sync_runs, seen_rows, record_history`.execute(
    db,
  );
});

interface Change {
  readonly id: number;
  readonly change: string;
  readonly before: unknown;
  readonly after: unknown;
}

const history = async () => (await sql<Change>`select * from record_history order by id`.execute(db)).rows;

test('a change leaves one row of history with the fields that changed, when it was observed and by which run', async () => {
  const run = await startRun(db, { resource: 'referrals', mode: 'full' });
  const [changing, still] = [buildReferral(), buildReferral()];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [changing, still] }] });
  const changed = { ...changing, conversion_state: 'conversion', customer: null, brand_new: true };
  await load(db, {
    resource: 'referrals',
    runId: run.id,
    pages: [{ observedAt: at(2), records: [changed, still] }],
  });
  const changes = (await history()).filter(({ change }) => change !== 'inserted');
  const { rows: row } = await sql<{ _changed_at: string }>`
    select * from referrals where id = ${changing.id}`.execute(db);
  expect(changes).toEqual([
    {
      id: expect.any(Number),
      table_name: 'referrals',
      record_id: changing.id,
      record_ids: null,
      change: 'updated',
      before: {
        conversion_state: 'lead',
        customer_platform: 'stripe',
        customer_id: 'cus_1',
        customer_name: 'Grace',
        customer_email: 'grace@example.com',
        _extra: null,
      },
      after: {
        conversion_state: 'conversion',
        customer_platform: null,
        customer_id: null,
        customer_name: null,
        customer_email: null,
        _extra: { brand_new: true },
      },
      observed_at: '2026-07-01T00:00:02Z',
      recorded_at: row[0]?._changed_at,
      run_id: run.id,
    },
  ]);
});

test('a record that is stored for the first time is in the history, with its run and without fields', async () => {
  const run = await startRun(db, { resource: 'referrals', mode: 'full' });
  const referral = buildReferral();
  const pages = [{ observedAt: at(1), records: [referral] }];
  await load(db, { resource: 'referrals', runId: run.id, pages });
  await load(db, { resource: 'referrals', runId: run.id, pages });
  const stored = {
    change: 'inserted',
    record_id: null,
    before: null,
    after: null,
    observed_at: '2026-07-01T00:00:01Z',
    run_id: run.id,
  };
  expect(await history()).toMatchObject([
    { ...stored, table_name: 'links', record_ids: [referral.link.id] },
    { ...stored, table_name: 'referrals', record_ids: [referral.id] },
  ]);
});

test('deletion and return are in the history, and so is a change that somebody makes by hand', async () => {
  // Without a link: that of a referral without known affiliate would be marked deleted with it.
  const referral = buildReferral({ link: null });
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [referral] }] });
  await db
    .transaction()
    .execute((trx) =>
      markDeleted(trx, { runId: null, resource: 'referrals', ids: [referral.id], observedAt: at(2) }),
    );
  await load(db, {
    resource: 'referrals',
    pages: [{ observedAt: at(3), records: [{ ...referral, visits: 9 }] }],
  });
  await db.transaction().execute(async (trx) => {
    await sql`set local timezone to 'Asia/Tokyo'`.execute(trx);
    await sql`set local search_path to pg_catalog`.execute(trx);
    await sql`update mirror.referrals set deactivated_at = ${at(9)}`.execute(trx);
  });
  expect((await history()).map(({ change, before, after }) => ({ change, before, after }))).toEqual([
    { change: 'inserted', before: null, after: null },
    { change: 'deleted', before: { _deleted_at: null }, after: { _deleted_at: '2026-07-01T00:00:02+00:00' } },
    {
      change: 'resurrected',
      before: { _deleted_at: '2026-07-01T00:00:02+00:00', visits: 2 },
      after: { _deleted_at: null, visits: 9 },
    },
    {
      change: 'updated',
      before: { deactivated_at: null },
      after: { deactivated_at: '2026-07-01T00:00:09+00:00' },
    },
  ]);
});

test('a conversion is an event with its time, and a first sight of a conversion is none', async () => {
  const [lead, converted] = [buildReferral(), buildReferral({ conversion_state: 'conversion' })];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [lead, converted] }] });
  const after = [{ ...lead, conversion_state: 'conversion' }, converted];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(2), records: after }] });
  expect((await sql`select * from conversion_events`.execute(db)).rows).toEqual([
    {
      referral_id: lead.id,
      affiliate_id: null,
      link_id: lead.link.id,
      customer_email: 'grace@example.com',
      from_state: 'lead',
      converted_at: '2026-07-01T00:00:02Z',
      is_exact: false,
      observed_at: '2026-07-01T00:00:02Z',
      run_id: null,
      _deleted_at: null,
    },
  ]);
});

test('where the program states when a referral converted, that time is the event’s, from the first sight on', async () => {
  const known = buildReferral({
    conversion_state: 'conversion',
    became_conversion_at: '2026-03-04T05:06:07.5+0000',
  });
  const [lead, visitor] = [
    buildReferral({ became_conversion_at: null }),
    buildReferral({ conversion_state: 'visitor', became_conversion_at: null }),
  ];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [known, lead, visitor] }] });
  const converted = { conversion_state: 'conversion', became_conversion_at: '2026-06-30T23:00Z' };
  await load(db, {
    resource: 'referrals',
    pages: [{ observedAt: at(2), records: [{ ...lead, ...converted }] }],
  });
  const { rows } = await sql`
    select referral_id, from_state, converted_at, is_exact, observed_at
    from conversion_events order by converted_at`.execute(db);
  expect(rows).toEqual([
    {
      referral_id: known.id,
      from_state: null,
      converted_at: '2026-03-04T05:06:07.5Z',
      is_exact: true,
      observed_at: '2026-07-01T00:00:01Z',
    },
    {
      referral_id: lead.id,
      from_state: 'lead',
      converted_at: '2026-06-30T23:00:00Z',
      is_exact: true,
      observed_at: '2026-07-01T00:00:02Z',
    },
  ]);
});

const ids = Array.from({ length: 4 }, () => buildReferral());
const text = fc.constantFrom('', 'a', '"\\', 'ü🦊');
const change = fc.oneof(
  fc.record({ kind: fc.constant('delete' as const), which: fc.nat({ max: 3 }) }),
  fc.record({
    kind: fc.constant('load' as const),
    which: fc.nat({ max: 3 }),
    fields: fc.record(
      {
        conversion_state: text,
        visits: fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
        deactivated_at: fc.constantFrom(
          null,
          '0001-01-01T00:00:00.000001Z',
          '9999-12-31T23:59:59.999999-15:59',
        ),
        customer: fc.constantFrom(null, { name: 'x', odd: { y: [null] } }, { email: '' }),
        odd: fc.jsonValue().filter((value) => storable(value)),
        odder: fc.constantFrom(null, 1, 'x'),
      },
      { requiredKeys: [] },
    ),
  }),
);

function storable(value: unknown): boolean {
  const json = JSON.stringify(value);
  return !/\\u/.test(json);
}

test('history applied backwards gives the rows of every earlier time, and so does referrals_at', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
      await sql`truncate campaigns, affiliates, links, referrals, record_history`.execute(db);
      const snapshots: { lastId: number; rows: readonly object[] }[] = [];
      for (const [index, step] of changes.entries()) {
        const { link: _, ...referral } = ids[step.which] ?? buildReferral();
        if (step.kind === 'load') {
          const records = [{ ...referral, ...step.fields }];
          await load(db, { resource: 'referrals', pages: [{ observedAt: at(index), records }] });
        } else {
          const target = { resource: 'referrals' as const, ids: [referral.id], observedAt: at(index) };
          await db.transaction().execute((trx) => markDeleted(trx, { runId: null, ...target }));
        }
        const lastId = (await history()).at(-1)?.id ?? 0;
        snapshots.push({ lastId, rows: await rowsOf(db, 'referrals') });
      }
      for (const [index, { lastId, rows }] of snapshots.entries()) {
        const states = await sql<object>`select * from referrals_at(${at(index)}) order by id`.execute(db);
        expect(states.rows).toEqual(rows);
        expect(await replayTo(lastId, rows.length)).toEqual(withoutTimes(rows));
      }
    }),
    {
      numRuns: sized(15, 60),
      examples: [
        // Deleted before it was ever seen; deleted twice and seen again; a field that comes, goes and comes back.
        [[{ kind: 'delete', which: 0 }]],
        [
          [
            { kind: 'load', which: 0, fields: {} },
            { kind: 'delete', which: 0 },
            { kind: 'delete', which: 0 },
            { kind: 'load', which: 0, fields: {} },
          ],
        ],
        [
          [
            { kind: 'load', which: 1, fields: { odder: 1 } },
            { kind: 'load', which: 1, fields: {} },
            { kind: 'load', which: 1, fields: { odder: null, customer: null } },
            { kind: 'load', which: 1, fields: { odder: 1 } },
          ],
        ],
      ],
    },
  );
});

async function replayTo(lastId: number, known: number): Promise<object[]> {
  const answer = await sql<object>`
    select (jsonb_populate_record(referral, coalesce(undo.fields, '{}'))).*
    from referrals referral
    left join lateral (
      select jsonb_object_agg(key, value order by history.id desc) as fields
      from record_history history, jsonb_each(history.before)
      where history.record_id = referral.id and history.id > ${lastId}::bigint
    ) undo on true
    where referral.id in (select id from referrals order by _first_seen_at limit ${known})
    order by id`.execute(db);
  return withoutTimes(answer.rows);
}

function withoutTimes(rows: readonly object[]): object[] {
  return rows.map((row) => ({ ...row, _changed_at: null, _observed_at: null }));
}
