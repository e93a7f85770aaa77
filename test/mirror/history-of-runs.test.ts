// The history against whole runs over every table, and the two views on it as an analyst would ask them.

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { finishRun, startRun } from '../../src/mirror/runs/sync-runs.ts';
import { LOAD_ORDER, type MirroredTable } from '../../src/records/mirrored-tables.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import {
  buildAffiliate,
  buildCampaign,
  buildCommission,
  buildLink,
  buildReferral,
  buildSale,
} from './build-records.ts';
import { at, load, rowsOf } from './load.ts';

type Resource = 'affiliates' | 'referrals' | 'commissions';

let db: Database;

beforeAll(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

beforeEach(async () => {
  await clear();
});

async function clear(): Promise<void> {
  await sql`truncate campaigns, affiliates, links, referrals, sales, commissions, sync_runs, seen_rows, record_history
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
      visits: count,
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
  fc.oneof(stepOf('affiliates', affiliate), stepOf('referrals', referral), stepOf('commissions', commission)),
  { minLength: 1, maxLength: 3 },
);

type Tables = Record<string, Readonly<Record<string, unknown>>[]>;

/**
 * One run of each list, and single reads of commissions beside them; returns every table as they left it, and the
 * number of the later run.
 */
async function carryOut(steps: readonly Step[], index: number): Promise<{ runId: number; tables: Tables }> {
  const observedAt = at(index);
  const runs = {
    affiliates: await startRun(db, { resource: 'affiliates', mode: 'full' }),
    referrals: await startRun(db, { resource: 'referrals', mode: 'full' }),
  };
  for (const { resource, records, gone } of steps) {
    const pages = [{ observedAt, records }];
    if (resource === 'commissions') {
      await load(db, { resource, pages });
      await markCommissions(gone, observedAt);
    } else {
      const { id: runId } = runs[resource];
      await load(db, { resource, runId, pages });
      const target = { runId, resource, ids: gone, observedAt };
      await db.transaction().execute((trx) => markDeleted(trx, target));
    }
  }
  const end = { verified: true, reason: null, rowsDeleted: 0, deletesHeldBack: 0 };
  for (const run of Object.values(runs)) await db.transaction().execute((trx) => finishRun(trx, run, end));
  return { runId: runs.referrals.id, tables: await readTables((table) => rowsOf(db, table)) };
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
        }
        changes += (await sql`select from record_history`.execute(db)).rows.length;
      }),
      { numRuns: RUNS },
    );
    // Otherwise nothing above was tested.
    expect(changes).toBeGreaterThan(RUNS);
  });

  test('names the run of every change, the first sight of a row included, and none where it was met unchanged', async () => {
    const changing = buildReferral();
    const steps = (fields: object) => [
      { resource: 'referrals' as const, records: [{ ...changing, ...fields }], gone: [] },
    ];
    const first = await carryOut(steps({}), 1);
    await carryOut(steps({}), 2);
    const third = await carryOut(steps({ visits: 9 }), 3);
    expect(first.runId).toBeLessThan(third.runId);
    const { rows } = await sql`
      select run_id, change, after from record_history
      where record_id = ${changing.id} or ${changing.id} = any(record_ids) order by id`.execute(db);
    expect(rows).toEqual([
      { run_id: first.runId, change: 'inserted', after: null },
      { run_id: third.runId, change: 'updated', after: { visits: 9 } },
    ]);
  });
});

describe('an analyst', () => {
  const affiliateId = randomUUID();
  const owner = buildAffiliate({ id: affiliateId });
  const build = (fields: object) => buildReferral({ affiliate: owner, ...fields });

  async function observe(second: number, records: readonly object[]): Promise<void> {
    await load(db, { resource: 'referrals', pages: [{ observedAt: at(second), records }] });
  }

  test('counts conversions of a period and sees from what and by whom, also where one lapsed and came again', async () => {
    const [quick, slow, never, born] = [
      build({ conversion_state: 'visitor' }),
      build({ conversion_state: 'lead' }),
      build({ conversion_state: 'lead' }),
      build({ conversion_state: 'conversion' }),
    ];
    await observe(1, [quick, slow, never, born]);
    await observe(2, [{ ...quick, conversion_state: 'conversion' }, slow, never, born]);
    await observe(3, [
      { ...quick, conversion_state: 'lead' },
      { ...slow, conversion_state: 'conversion' },
    ]);
    await observe(4, [{ ...quick, conversion_state: 'conversion', visits: 7 }]);
    await observe(5, [{ ...quick, conversion_state: 'conversion', visits: 8 }]);
    const { rows } = await sql`
      select referral_id, from_state, observed_at, affiliate_id from conversion_events
      where observed_at >= ${at(2)}::timestamptz order by observed_at`.execute(db);
    expect(rows).toEqual([
      {
        referral_id: quick.id,
        from_state: 'visitor',
        observed_at: '2026-07-01T00:00:02Z',
        affiliate_id: affiliateId,
      },
      {
        referral_id: slow.id,
        from_state: 'lead',
        observed_at: '2026-07-01T00:00:03Z',
        affiliate_id: affiliateId,
      },
      {
        referral_id: quick.id,
        from_state: 'lead',
        observed_at: '2026-07-01T00:00:04Z',
        affiliate_id: affiliateId,
      },
    ]);
  });

  test('reads the funnel as it was at a given time, without what came later and with what has vanished since', async () => {
    const [lead, gone, late] = [
      build({ conversion_state: 'lead' }),
      build({ conversion_state: 'conversion' }),
      build({ conversion_state: 'visitor' }),
    ];
    await observe(10, [lead, gone]);
    await observe(20, [{ ...lead, conversion_state: 'conversion' }, gone, late]);
    await db
      .transaction()
      .execute((trx) =>
        markDeleted(trx, { runId: null, resource: 'referrals', ids: [gone.id], observedAt: at(30) }),
      );
    const funnelAt = async (second: number) => {
      const { rows } = await sql<{ conversion_state: string; count: number }>`
        select conversion_state, count(*) as count from referrals_at(${at(second)})
        where _deleted_at is null group by 1 order by 1`.execute(db);
      return Object.fromEntries(rows.map((row) => [row.conversion_state, row.count]));
    };
    expect(await funnelAt(5)).toEqual({});
    expect(await funnelAt(10)).toEqual({ conversion: 1, lead: 1 });
    expect(await funnelAt(19)).toEqual({ conversion: 1, lead: 1 });
    expect(await funnelAt(20)).toEqual({ conversion: 2, visitor: 1 });
    expect(await funnelAt(30)).toEqual({ conversion: 1, visitor: 1 });
    // What was deleted by then is still there to be looked at, as it was.
    const { rows } = await sql`
      select conversion_state, _deleted_at from referrals_at(${at(99)}) where id = ${gone.id}`.execute(db);
    expect(rows).toEqual([{ conversion_state: 'conversion', _deleted_at: '2026-07-01T00:00:30Z' }]);
    const joined = await sql`
      select a.email, count(*) as referrals from referrals_at(${at(20)}) r join affiliates a on a.id = r.affiliate_id
      group by 1`.execute(db);
    expect(joined.rows).toEqual([{ email: 'ada@example.com', referrals: 3 }]);
  });
});
