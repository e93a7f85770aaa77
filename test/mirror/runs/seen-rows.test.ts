// What a run has met: the rows as bits, against a plain set and Postgres' own reading of them; and through a kill.

import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  forgetSeenRows,
  makeSeenRows,
  readSeenRows,
  type SeenRows,
  saveSeenRows,
} from '../../../src/mirror/runs/seen-rows.ts';
import { createTestDatabase } from '../../support/database.ts';
import { sized } from '../../support/sizes.ts';

const database = await createTestDatabase();
const { db } = database;

beforeEach(async () => {
  await db.deleteFrom('seen_rows').execute();
});

/** Where the set grows: for the first time, and much later. */
const FIRST_BITS = makeSeenRows().bits().length * 8;
const rowNumber = fc.oneof(
  fc.nat({ max: 40 }),
  fc.integer({ min: FIRST_BITS - 20, max: FIRST_BITS + 20 }),
  fc.integer({ min: 2 * FIRST_BITS - 20, max: 2 * FIRST_BITS + 20 }),
  fc.integer({ min: 1, max: 5 * FIRST_BITS }),
);
const rowNumbers = fc.array(rowNumber, { maxLength: 30 });

/** Returns those of the numbers that are set, as `get_bit` counts; beyond the last bit, none is. */
async function setInPostgres(seen: SeenRows, numbers: readonly number[]): Promise<number[]> {
  const bits = seen.bits();
  const { rows } = await database.pool.query<{ number: number }>(
    'select number from unnest($2::bigint[]) as number where get_bit($1::bytea, number) = 1',
    [bits, numbers.filter((number) => number < bits.length * 8)],
  );
  return rows.map(({ number }) => number);
}

const UNNAMED = { id: 'a link', affiliateId: 'an affiliate', observedAt: '2026-07-01T00:00:01Z' };

function expectSame(seen: SeenRows, expected: ReadonlySet<number>, asked: readonly number[]): void {
  expect(asked.filter((number) => seen.has(number))).toEqual(asked.filter((number) => expected.has(number)));
}

describe('a set of rows', () => {
  test('holds what was added since it was last emptied and nothing else, to Postgres as well', async () => {
    const step = fc.oneof({ weight: 5, arbitrary: rowNumbers }, { weight: 1, arbitrary: fc.constant(null) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), rowNumbers, async (steps, others) => {
        const seen = makeSeenRows();
        const expected = new Set<number>();
        const asked = new Set(others);
        for (const added of steps) {
          if (added === null) {
            seen.clear();
            expected.clear();
            expect([seen.rejected.size, seen.unnamedLinks.size]).toEqual([0, 0]);
          } else {
            seen.add({ rowNumbers: added, rejectedIds: ['one'], unnamedLinks: [UNNAMED] });
            for (const number of added) {
              expected.add(number);
              // Its neighbours are in the same byte, or in the next one.
              for (const near of [number - 8, number - 1, number, number + 1, number + 8]) asked.add(near);
            }
          }
          expectSame(seen, expected, [...asked]);
        }
        const numbers = [...asked].filter((number) => number >= 0);
        expect(await setInPostgres(seen, numbers)).toEqual(numbers.filter((number) => expected.has(number)));
      }),
      {
        numRuns: sized(15, 60),
        // Nothing; both ends of a byte; where it grows, and after it was emptied.
        examples: [
          [[], []],
          [[[1, 7, 8]], []],
          [[[FIRST_BITS - 1], [FIRST_BITS], null, [FIRST_BITS + 1]], [FIRST_BITS - 1]],
        ],
      },
    );
  });
});

const RUN = 7;
const save = (runId: number, rowNumbers: readonly number[], rejectedIds: readonly string[] = []) =>
  db.transaction().execute((trx) => saveSeenRows(trx, runId, { rowNumbers, rejectedIds, unnamedLinks: [] }));

describe('what the batches of a run have met', () => {
  test('is read back for its resumption, whatever the batches were and whatever another run has met', async () => {
    const batch = fc.record({ numbers: rowNumbers, rejected: fc.array(fc.uuid(), { maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 6 }), batch, async (batches, other) => {
        await db.deleteFrom('seen_rows').execute();
        for (const { numbers, rejected } of batches) await save(RUN, numbers, rejected);
        await save(RUN + 1, other.numbers, other.rejected);
        const seen = await readSeenRows(db, RUN);
        const numbers = batches.flatMap((one) => one.numbers);
        expectSame(seen, new Set(numbers), [...numbers, ...other.numbers, 0, 1, FIRST_BITS]);
        expect(seen.rejected).toEqual(new Set(batches.flatMap(({ rejected }) => rejected)));
      }),
      {
        numRuns: sized(15, 60),
        // No batch; a batch of nothing; the same row twice, and by another run; where the set grows.
        examples: [
          [[], { numbers: [], rejected: [] }],
          [[{ numbers: [], rejected: [] }], { numbers: [1], rejected: [] }],
          [
            [
              { numbers: [8, 8], rejected: [] },
              { numbers: [8], rejected: [] },
            ],
            { numbers: [8, 9], rejected: [] },
          ],
          [[{ numbers: [FIRST_BITS], rejected: [] }], { numbers: [FIRST_BITS - 1], rejected: [] }],
        ],
      },
    );
  });

  test('is forgotten with the run, and the other’s is not', async () => {
    for (const runId of [RUN, RUN + 1]) await save(runId, [1, 2]);
    await db.transaction().execute((trx) => forgetSeenRows(trx, RUN));
    expect(await db.selectFrom('seen_rows').selectAll().execute()).toEqual([
      { run_id: RUN + 1, row_numbers: [1, 2], rejected_ids: [], unnamed_links: [] },
    ]);
  });

  test('is kept in a table that costs no WAL, which a crash of Postgres empties', async () => {
    const { rows } = await database.pool.query(
      `select relpersistence from pg_class where oid = 'seen_rows'::regclass`,
    );
    expect(rows).toEqual([{ relpersistence: 'u' }]);
  });
});
