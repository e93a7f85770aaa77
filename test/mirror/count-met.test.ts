// What a run meets first: each record once, whether it fits or is rejected, however the run goes on between batches.

import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { type LoadResult, loadBatch } from '../../src/mirror/load-batch.ts';
import { type ReadPages, readPages } from '../../src/mirror/read-page.ts';
import { makeSeenRows, readSeenRows, type SeenRows } from '../../src/mirror/seen-rows.ts';
import { startRun } from '../../src/mirror/sync-runs.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildReferral } from './build-records.ts';
import { at, counts, load, rowsOf } from './load.ts';

const resource = 'referrals';

let db: Database;

beforeAll(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

async function empty(): Promise<void> {
  await sql`truncate referrals, links, sync_runs, seen_rows, rejected_records, record_history`.execute(db);
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
  const loadInto = (pages: readonly ReadPages[], fails: boolean): Promise<LoadResult> =>
    db.transaction().execute(async (trx) => {
      const result = await loadBatch(trx, { run: { id, seen }, resource, pages });
      if (fails) throw new Error('undone');
      return result;
    });
  return {
    seen: (): SeenRows => seen,
    async load(pages: readonly (readonly object[])[], way: Way, second: number): Promise<LoadResult> {
      const read = pages.map((records, index) =>
        readPages({ cache: null, drift: null }, resource, [
          { observedAt: at(second + index / 1000), records },
        ]),
      );
      if (way === 'resumed') seen = await readSeenRows(db, id);
      if (way === 'after an undone attempt') await expect(loadInto(read, true)).rejects.toThrow('undone');
      const result = await loadInto(read, false);
      result.afterCommit();
      return result;
    },
  };
}

const POOL = Array.from({ length: 4 }, () => buildReferral());
const A = POOL[0] ?? buildReferral();
const good = { ...A };
const changed = { ...A, visits: 7 };
const bad = { ...A, visits: 'many' };
const nameless = { visits: 1 };

interface Batch {
  readonly pages: readonly (readonly object[])[];
  readonly fresh: number;
  readonly counted: Partial<LoadResult>;
}

const CASES: readonly { readonly name: string; readonly batches: readonly Batch[] }[] = [
  {
    name: 'rejected, and fits later',
    batches: [
      { pages: [[bad]], fresh: 1, counted: { rejected: 1 } },
      { pages: [[good]], fresh: 0, counted: { inserted: 1, rejected: 0, repeated: 0 } },
      { pages: [[good]], fresh: 0, counted: { inserted: 0, unchanged: 0, repeated: 1 } },
      { pages: [[changed]], fresh: 0, counted: { updated: 1, unchanged: 0, repeated: 0 } },
      { pages: [[bad]], fresh: 0, counted: { rejected: 0, repeated: 1 } },
    ],
  },
  {
    name: 'fits, and is rejected later',
    batches: [
      { pages: [[good]], fresh: 1, counted: { inserted: 1 } },
      { pages: [[bad]], fresh: 0, counted: { rejected: 1, repeated: 0 } },
      { pages: [[bad, good]], fresh: 0, counted: { rejected: 0, unchanged: 0, repeated: 2 } },
    ],
  },
  {
    name: 'rejected and fits on one page',
    batches: [
      { pages: [[bad, good]], fresh: 1, counted: { rejected: 1, inserted: 1, repeated: 0 } },
      { pages: [[bad]], fresh: 0, counted: { rejected: 0, repeated: 1 } },
      { pages: [[good]], fresh: 0, counted: { repeated: 1 } },
    ],
  },
  {
    name: 'fits and is rejected on two pages of a batch',
    batches: [
      { pages: [[good], [bad]], fresh: 1, counted: { rejected: 1, inserted: 1, repeated: 0 } },
      { pages: [[good]], fresh: 0, counted: { repeated: 1 } },
    ],
  },
  {
    name: 'twice on one page',
    batches: [
      { pages: [[good, good]], fresh: 1, counted: { inserted: 1, repeated: 1 } },
      { pages: [[good, changed]], fresh: 0, counted: { updated: 1, repeated: 1 } },
    ],
  },
  {
    name: 'twice on two pages of a batch, the same',
    batches: [{ pages: [[good], [good]], fresh: 1, counted: { inserted: 1, repeated: 1 } }],
  },
  {
    name: 'twice on two pages of a batch, changed between them',
    batches: [
      { pages: [[good], [changed]], fresh: 1, counted: { inserted: 1, updated: 1, repeated: 0 } },
      { pages: [[changed], [good]], fresh: 0, counted: { updated: 1, repeated: 1 } },
    ],
  },
  {
    name: 'rejected twice on one page',
    batches: [{ pages: [[bad, bad]], fresh: 1, counted: { rejected: 1, repeated: 1 } }],
  },
  {
    name: 'without an identifier, which no identifier stands for',
    batches: [
      {
        pages: [[nameless, nameless]],
        fresh: 0,
        counted: { rejected: 1, anonymousRejected: 1, repeated: 1 },
      },
      { pages: [[nameless]], fresh: 0, counted: { rejected: 0, anonymousRejected: 0, repeated: 1 } },
    ],
  },
];

describe.each(WAYS)('of a run that goes on %s', (way) => {
  test.each(CASES)('a record is met once that is met $name', async ({ batches }) => {
    const run = await beginRun();
    for (const [index, { pages, fresh, counted }] of batches.entries()) {
      const result = await run.load(pages, way, index);
      expect(result).toMatchObject({ fresh, ...counted });
    }
  });

  test.each(CASES)(
    'a row that was there before is met once, though its record is met $name',
    async (given) => {
      await load(db, { resource, pages: [{ observedAt: at(-1), records: [good] }] });
      const run = await beginRun();
      for (const [index, { pages, fresh }] of given.batches.entries()) {
        expect(await run.load(pages, way, index)).toMatchObject({ fresh, inserted: 0 });
      }
    },
  );
});

/** One record as it is met: which, or none that has a name; whether it fits; whether it changed. */
const meeting = fc.record({
  which: fc.option(fc.nat({ max: POOL.length - 1 }), { freq: 8 }),
  fits: fc.integer({ min: 0, max: 2 }).map((dice) => dice > 0),
  visits: fc.nat({ max: 1 }),
});
type Meeting = typeof meeting extends fc.Arbitrary<infer T> ? T : never;

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
  const anonymous = new Set<number>();
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
        anonymousRejected: 0,
      };
      for (const page of pages) {
        sum.seen += page.length;
        const newest = new Map<number, number>();
        for (const { which, fits, visits } of page) {
          const met = which === null ? anonymous : rejected;
          const key = which ?? visits;
          if (which !== null && fits) newest.set(which, visits);
          else if (!met.has(key)) {
            met.add(key);
            sum.rejected += 1;
            if (which === null) sum.anonymousRejected += 1;
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
          expect({ ...result, afterCommit: null }).toEqual({ ...expected, afterCommit: null });
          expect(Math.min(...Object.values(counts(result)))).toBeGreaterThanOrEqual(0);
          const rows = await rowsOf(db, resource);
          const met = rows.filter((row) => run.seen().has(Number(row['_row_number']))).map(({ id }) => id);
          expect(met).toEqual([...model.rows].map((which) => POOL[which]?.id).sort());
        }
      },
    ),
    { numRuns: 150 },
  );
});
