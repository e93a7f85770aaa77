// What a run meets first: each record once, whether it fits or is rejected, however the run goes on between batches.

import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { type DecodedPage, decodePage } from '../../src/decode/decode-page.ts';
import { PLAIN } from '../../src/decode/treatment.ts';
import { type LoadResult, loadBatch } from '../../src/mirror/load-batch.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { makeSeenRows, readSeenRows, type SeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { makeFirstLoad } from '../../src/mirror/send-rows.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import { buildCommission, buildReferral, buildSale } from './build-records.ts';
import { at, counts, load, rowsOf } from './load.ts';

const resource = 'referrals';

const { db } = await createTestDatabase();

async function empty(): Promise<void> {
  await sql`truncate commissions, sales, referrals, affiliates, links, campaigns, sync_runs, seen_rows, rejected_records,
    record_history`.execute(db);
}

beforeEach(empty);

/**
 * How the run goes on: in memory; taken up by another process, which knows what the database knows; or in memory
 * after the batch's transaction was undone once, which leaves no trace.
 */
const WAYS = ['in memory', 'resumed', 'after an undone attempt'] as const;
type Way = (typeof WAYS)[number];

async function beginRun() {
  const { id } = await startRun(db, { resource, mode: 'full' });
  let seen = makeSeenRows();
  const loadInto = (pages: readonly DecodedPage[], fails: boolean): Promise<LoadResult> =>
    db.transaction().execute(async (trx) => {
      const result = await loadBatch(trx, {
        run: { id, seen, firstLoad: makeFirstLoad(false) },
        resource,
        pages,
      });
      if (fails) throw new Error('undone');
      return result;
    });
  return {
    seen: (): SeenRows => seen,
    async load(pages: readonly (readonly object[])[], way: Way, second: number): Promise<LoadResult> {
      const read = pages.map((records, index) =>
        decodePage({ resource, drift: null, treatment: PLAIN, fast: null }, [
          { observedAt: at(second + index / 1000), records },
        ]),
      );
      if (way === 'resumed') seen = await readSeenRows(db, id);
      if (way === 'after an undone attempt') await expect(loadInto(read, true)).rejects.toThrow('undone');
      const result = await loadInto(read, false);
      seen.add(result.met);
      return result;
    },
  };
}

const POOL = Array.from({ length: 4 }, () => buildReferral());
describe('the rows of the mirror', () => {
  const FUTURE = '2999-01-01T00:00:00Z';
  const newer = '2999-01-02T00:00:00Z';

  /** Returns the identifiers of the rows that the run has met, as a resumption of it would know them. */
  async function idsMet(runId: number, table: 'affiliates' | 'referrals'): Promise<unknown[]> {
    const seen = await readSeenRows(db, runId);
    const rows = await rowsOf(db, table);
    return rows.filter((row) => seen.has(Number(row['_row_number']))).map(({ id }) => id);
  }

  test('that a single read inserts or changes meanwhile are not met by the run, until it meets them itself', async () => {
    const [listed, known] = [buildReferral(), buildReferral()];
    await load(db, { resource, pages: [{ observedAt: at(1), records: [listed, known] }] });
    const run = await startRun(db, { resource, mode: 'full' });
    await load(db, { resource, runId: run.id, pages: [{ observedAt: at(2), records: [listed] }] });
    const unheardOf = buildReferral();
    const paid = [unheardOf, { ...known, visits: 5 }].map((referral) =>
      buildCommission({ sale: buildSale({ referral }) }),
    );
    await load(db, { resource: 'commissions', pages: [{ observedAt: FUTURE, records: paid }] });
    expect((await rowsOf(db, resource)).length).toBe(3);
    expect(await idsMet(run.id, resource)).toEqual([listed.id]);
    const records = [listed, unheardOf, { ...known, visits: 5 }];
    const met = await load(db, { resource, runId: run.id, pages: [{ observedAt: newer, records }] });
    expect(met).toMatchObject({ fresh: 2, inserted: 0, unchanged: 2, repeated: 1 });
    expect(await idsMet(run.id, resource)).toEqual([listed.id, unheardOf.id, known.id].sort());
  });

  test('keep their numbers through every load, deletion and return', async () => {
    const records = [buildReferral(), buildReferral()];
    const numbers = async () => (await rowsOf(db, resource)).map((row) => [row['id'], row['_row_number']]);
    await load(db, { resource, pages: [{ observedAt: at(1), records }] });
    const before = await numbers();
    const run = await startRun(db, { resource, mode: 'full' });
    await db
      .transaction()
      .execute((trx) =>
        markDeleted(trx, { runId: run.id, resource, ids: [records[0]?.id ?? ''], observedAt: at(2) }),
      );
    const moved = records.map((record) => ({ ...record, visits: 5, conversion_state: 'conversion' }));
    const commissions = moved.map((referral) => buildCommission({ sale: buildSale({ referral }) }));
    await load(db, { resource: 'commissions', pages: [{ observedAt: at(3), records: commissions }] });
    await load(db, { resource, runId: run.id, pages: [{ observedAt: at(4), records }] });
    expect(await numbers()).toEqual(before);
    const history = await sql`select before, after from record_history`.execute(db);
    expect(JSON.stringify(history)).not.toContain('_row_number');
  });
});

/** One record as it is met: which, or none that has a name; whether it fits; whether it changed. */
const meeting = fc.record({
  which: fc.option(fc.nat({ max: POOL.length - 1 }), { freq: 8 }),
  fits: fc.integer({ min: 0, max: 2 }).map((dice) => dice > 0),
  visits: fc.nat({ max: 1 }),
});
type Meeting = typeof meeting extends fc.Arbitrary<infer T> ? T : never;
const WELL: Meeting = { which: 0, fits: true, visits: 1 };
const BROKEN: Meeting = { ...WELL, fits: false };
const NAMELESS: Meeting = { ...BROKEN, which: null };

const batch = fc.record({
  way: fc.constantFrom(...WAYS),
  pages: fc.array(fc.array(meeting, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
});

function toRecord({ which, fits, visits }: Meeting): Record<string, unknown> {
  if (which === null) return { visits };
  return { ...POOL[which], visits: fits ? visits : `? ${visits}` };
}

/** The run as a plain model: what it has met, and what the table holds. */
function makeModel(before: readonly number[]) {
  const table = new Map<number, number>(before.map((which) => [which, 0]));
  const rows = new Set<number>();
  const rejected = new Set<number>();
  const nameless = new Set<number>();
  return {
    rows,
    load(pages: readonly (readonly Meeting[])[]) {
      const wereMet = new Set([...rows, ...rejected]);
      const sum = {
        seen: 0,
        inserted: 0,
        updated: 0,
        unchanged: 0,
        rejected: 0,
        fresh: 0,
      };
      for (const page of pages) {
        sum.seen += page.length;
        const newest = new Map<number, number>();
        for (const { which, fits, visits } of page) {
          const met = which === null ? nameless : rejected;
          const key = which ?? visits;
          if (which !== null && fits) newest.set(which, visits);
          else if (!met.has(key)) {
            met.add(key);
            sum.rejected += 1;
          }
        }
        for (const [which, visits] of newest) {
          const held = table.get(which);
          if (held === undefined) sum.inserted += 1;
          else if (held !== visits) sum.updated += 1;
          else if (!wereMet.has(which) && !rows.has(which)) sum.unchanged += 1;
          table.set(which, visits);
          rows.add(which);
        }
      }
      sum.fresh = new Set([...rows, ...rejected]).size - wereMet.size;
      const { seen, inserted, updated, unchanged } = sum;
      return { ...sum, repeated: seen - inserted - updated - unchanged - sum.rejected };
    },
  };
}

test('each batch counts as a plain model of the run does, and its rows are those that are met', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.subarray([...POOL.keys()]),
      fc.array(batch, { minLength: 1, maxLength: 5 }),
      async (before, batches) => {
        await empty();
        const base = before.map((which) => toRecord({ which, fits: true, visits: 0 }));
        await load(db, { resource, pages: [{ observedAt: at(-1), records: base }] });
        const model = makeModel(before);
        const run = await beginRun();
        for (const [index, { pages, way }] of batches.entries()) {
          const result = await run.load(
            pages.map((page) => page.map(toRecord)),
            way,
            index,
          );
          const expected = model.load(pages);
          expect({ ...result, met: null }).toEqual({ ...expected, met: null });
          expect(Math.min(...Object.values(counts(result)))).toBeGreaterThanOrEqual(0);
          const rows = await rowsOf(db, resource);
          const met = rows.filter((row) => run.seen().has(Number(row['_row_number']))).map(({ id }) => id);
          expect(met).toEqual([...model.rows].map((which) => POOL[which]?.id).sort());
        }
      },
    ),
    {
      numRuns: sized(30, 150),
      // Met well and then broken, on one page and in the next batch; broken and then well; nameless twice; a batch that
      // only repeats what an undone attempt had loaded.
      examples: [
        [[0], [{ way: 'in memory', pages: [[WELL, BROKEN], [WELL]] }]],
        [
          [],
          [
            { way: 'in memory', pages: [[BROKEN]] },
            { way: 'resumed', pages: [[WELL]] },
          ],
        ],
        [[], [{ way: 'in memory', pages: [[NAMELESS, NAMELESS], []] }]],
        [
          [],
          [
            { way: 'after an undone attempt', pages: [[WELL, NAMELESS]] },
            { way: 'resumed', pages: [[WELL, WELL]] },
          ],
        ],
      ],
    },
  );
});
