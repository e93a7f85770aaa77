// The history against whole runs over every table.

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { LOAD_ORDER, type MirroredTable } from '../../src/decode/mirrored-tables.ts';
import { finishRun, startRun } from '../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import {
  buildAffiliate,
  buildCampaign,
  buildCommission,
  buildLink,
  buildPaidOut,
  buildPayout,
  buildReferral,
  buildSale,
} from './build-records.ts';
import { at, bury, load, rowsOf } from './load.ts';

type Resource = 'affiliates' | 'referrals' | 'commissions' | 'payouts';

const { db } = await createTestDatabase();

beforeEach(async () => {
  await clear();
});

async function clear(): Promise<void> {
  await sql`truncate campaigns, affiliates, links, referrals, sales, commissions, payouts, sync_runs, seen_rows, record_history
    restart identity`.execute(db);
}

// Few records of each kind and few values, so that runs meet them again, the same and changed.
const POOL = 3;
const idsOf = Object.fromEntries(
  LOAD_ORDER.map((table) => [table, Array.from({ length: POOL }, () => randomUUID())]),
) as Record<MirroredTable, string[]>;

const which = fc.nat({ max: POOL - 1 });
const idIn = (table: MirroredTable) => which.map((index) => idsOf[table][index] ?? '');
const text = fc.constantFrom('a', 'b', 'ü"\\');
const count = fc.constantFrom(0, 1, 2);

const campaign = fc.record({ id: idIn('campaigns'), name: text }).map(buildCampaign);
const link = fc.record({ id: idIn('links'), token: text, leads: count }).map(buildLink);
const affiliate = fc
  .record(
    {
      id: idIn('affiliates'),
      first_name: text,
      leads: count,
      campaign: fc.option(campaign),
      links: fc.uniqueArray(link, { selector: ({ id }) => id, maxLength: 2 }),
      commission_stats: fc.constantFrom(null, { currencies: {} }, { currencies: { USD: null } }),
      shiny: fc.constantFrom(null, 1, { deep: [text] }),
    },
    { requiredKeys: ['id', 'first_name'] },
  )
  .map(buildAffiliate);
const referral = fc
  .record(
    {
      id: idIn('referrals'),
      conversion_state: fc.constantFrom('visitor', 'lead', 'conversion'),
      visits: fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
      deactivated_at: fc.constantFrom(
        null,
        '0001-01-01T00:00:00.000001Z',
        '9999-12-31T23:59:59.999999-15:59',
      ),
      odd: fc.jsonValue().filter((value) => !JSON.stringify(value).includes('\\u')),
      customer: fc.constantFrom(null, { platform: 'stripe', id: 'cus_1', name: 'x', email: 'x@example.com' }),
      link: fc.option(link),
      affiliate: fc.option(affiliate),
    },
    { requiredKeys: ['id', 'conversion_state'] },
  )
  .map(buildReferral);
const sale = fc
  .record({ id: idIn('sales'), refund_amount_cents: count, referral, affiliate: fc.option(affiliate) })
  .map(buildSale);
const commission = fc
  .record({ id: idIn('commissions'), amount: count, paid_at: fc.constantFrom(null, at(0)), sale })
  .map(buildCommission);

const paidOut = fc
  .record({ id: idIn('commissions'), amount: count, paid_at: fc.constantFrom(null, at(0)) })
  .map(buildPaidOut);
const payout = fc
  .record(
    {
      id: idIn('payouts'),
      state: fc.constantFrom('due', 'processing', 'paid'),
      affiliate,
      commissions: fc.uniqueArray(paidOut, { selector: ({ id }) => id, maxLength: 2 }),
    },
    { requiredKeys: ['id', 'state'] },
  )
  .map(buildPayout);

interface Step {
  readonly resource: Resource;
  readonly records: readonly object[];
  readonly gone: readonly string[];
}

const stepOf = (resource: Resource, record: fc.Arbitrary<object>): fc.Arbitrary<Step> =>
  fc.record({
    resource: fc.constant(resource),
    records: fc.array(record, { maxLength: 3 }),
    gone: fc.uniqueArray(idIn(resource), { maxLength: 1 }),
  });
const run = fc.array(
  fc.oneof(
    stepOf('affiliates', affiliate),
    stepOf('referrals', referral),
    stepOf('commissions', commission),
    stepOf('payouts', payout),
  ),
  { minLength: 1, maxLength: 3 },
);

type Row = Readonly<Record<string, unknown>>;
type Tables = Record<string, Row[]>;

/**
 * One run of each list, and single reads of commissions beside them; returns every table as they left it, and the
 * number of the later run.
 */
async function carryOut(steps: readonly Step[], index: number): Promise<{ runId: number; tables: Tables }> {
  const observedAt = at(index);
  const runs = {
    affiliates: await startRun(db, { resource: 'affiliates', mode: 'full' }),
    referrals: await startRun(db, { resource: 'referrals', mode: 'full' }),
    payouts: await startRun(db, { resource: 'payouts', mode: 'full' }),
  };
  for (const { resource, records, gone } of steps) {
    const pages = [{ observedAt, records }];
    if (resource === 'commissions') {
      await load(db, { resource, pages });
      await markCommissions(gone, observedAt);
    } else {
      const { id: runId } = runs[resource];
      await load(db, { resource, runId, pages });
      await bury(db, resource, gone, observedAt, runId);
    }
  }
  const end = { verified: true, reason: null, rowsDeleted: 0, deletesHeldBack: 0 };
  for (const run of Object.values(runs)) await db.transaction().execute((trx) => finishRun(trx, run, end));
  return { runId: runs.payouts.id, tables: await readTables((table) => rowsOf(db, table)) };
}

/** As reads that find nothing do, at a time of the test's own. */
async function markCommissions(ids: readonly string[], observedAt: string): Promise<void> {
  const time = sql`${observedAt}::timestamptz`;
  await sql`
    update commissions set _deleted_at = ${time}, _changed_at = (select stamp_changes()), _observed_at = ${time}
    where id = any(${ids}::text[]) and _deleted_at is null`.execute(db);
}

async function readTables(read: (table: MirroredTable) => Promise<Tables[string]>): Promise<Tables> {
  const tables: Tables = {};
  for (const table of LOAD_ORDER) tables[table] = (await read(table)).map(withoutTimes);
  return tables;
}

/** Today's rows with everything undone that later runs changed, and later single reads, newest change first. */
async function undo(table: MirroredTable, runId: number, index: number): Promise<Tables[string]> {
  const answer = await sql<Record<string, unknown>>`
    select (jsonb_populate_record(today, coalesce(undo.fields, '{}'))).*
    from ${sql.table(table)} today
    left join lateral (
      select jsonb_object_agg(key, value order by history.id desc) as fields
      from record_history history, jsonb_each(history.before)
      where history.table_name = ${table} and history.record_id = today.id
        and coalesce(history.run_id > ${runId}::bigint, history.observed_at > ${at(index)}::timestamptz)
    ) undo on true
    where today._first_seen_at <= ${at(index)}::timestamptz
    order by id`.execute(db);
  return answer.rows;
}

// History keeps what the program said; when the mirror last looked is not in it.
function withoutTimes(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { _changed_at, _observed_at, ...content } = row;
  return content;
}

const RUNS = sized(15, 60);

describe('the history of runs', () => {
  test('applied backwards from today’s rows gives every table as each earlier run left it', async () => {
    let changes = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 2, maxLength: 6 }), async (runs) => {
        await clear();
        const left: Awaited<ReturnType<typeof carryOut>>[] = [];
        for (const [index, steps] of runs.entries()) left.push(await carryOut(steps, index));
        for (const [index, { runId, tables }] of left.entries()) {
          expect(await readTables((table) => undo(table, runId, index))).toEqual(tables);
          const { rows } = await sql<Row>`select * from referrals_at(${at(index)}) order by id`.execute(db);
          expect(rows.map(withoutTimes)).toEqual(tables['referrals']);
        }
        changes += (await sql`select from record_history`.execute(db)).rows.length;
      }),
      { numRuns: RUNS },
    );
    // Otherwise nothing above was tested.
    expect(changes).toBeGreaterThan(RUNS);
  });
});

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
  const { rows: changes } = await sql`select * from record_history where change <> 'inserted'`.execute(db);
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
