// Whoever polls by watermark while others write has in the end exactly what the tables hold, whatever is written by
// whom in which order, and however it ends.

import { setImmediate as breathe } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { DatabaseTransaction } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { decodePage } from '../../src/decode/decode-page.ts';
import { LOAD_ORDER } from '../../src/decode/mirrored-tables.ts';
import { PLAIN } from '../../src/decode/treatment.ts';
import { loadBatch } from '../../src/mirror/load-batch.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { markCommissionsDeleted, mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import { buildCommission } from './build-records.ts';
import { at } from './load.ts';
import { makeWatermarkReader } from './watermark-reader.ts';

const database = await createTestDatabase();
const { db } = database;

const POOL = Array.from({ length: 40 }, () => buildCommission());
const WRITERS = 3;

const step = fc.record({
  kind: fc.constantFrom('load', 'payment', 'marked deleted', 'gone', 'by hand', 'undone', 'clock'),
  from: fc.nat({ max: POOL.length - 1 }),
  count: fc.constantFrom(1, 2, 5, 30),
  amount: fc.nat({ max: 2 }),
  observed: fc.nat({ max: 30 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Undone extends Error {}

async function write(trx: DatabaseTransaction, { kind, from, count, amount, observed }: Step): Promise<void> {
  const records = POOL.slice(from, from + count).map((record) => ({ ...record, amount }));
  const ids = records.map(({ id }) => id);
  const observedAt = at(observed);
  switch (kind) {
    case 'payment':
      return mirrorCommissions(
        trx,
        records.slice(0, 3).map((commission) => ({ commission: commission as never, observedAt })),
      );
    case 'gone':
      return markCommissionsDeleted(
        trx,
        ids.map((id) => ({ id, askedAt: observedAt })),
      );
    case 'marked deleted':
      await markDeleted(trx, { runId: null, resource: 'commissions', ids, observedAt });
      return;
    case 'by hand':
      await sql`update commissions set amount = ${amount}::bigint, _changed_at = ${observedAt}::timestamptz
        where id = ${ids[0] ?? ''}`.execute(trx);
      return;
    case 'clock':
      // As if the server's clock had run ahead until now.
      await sql`select stamp_changes()`.execute(trx);
      await sql`update change_clock set last = last + interval '1 hour'`.execute(trx);
      return;
    default: {
      const read = decodePage({ resource: 'commissions', drift: null, treatment: PLAIN, fast: null }, [
        { observedAt, records },
      ]);
      await loadBatch(trx, { run: null, resource: 'commissions', pages: [read] });
      if (kind === 'undone') throw new Undone();
    }
  }
}

test('a reader who polls by watermark while others write ends with exactly the tables', async () => {
  let polls = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 10 }), { minLength: WRITERS, maxLength: WRITERS }),
      async (scripts) => {
        await sql`truncate campaigns, affiliates, links, referrals, sales, commissions, record_history`.execute(
          db,
        );
        const reader = await makeWatermarkReader(database.pool, LOAD_ORDER);
        const writing = Promise.all(
          scripts.map(async (script) => {
            for (const one of script) {
              await transact(db, (trx) => write(trx, one)).catch((error: unknown) => {
                if (!(error instanceof Undone)) throw error;
              });
            }
          }),
        );
        let isOver = false;
        const over = writing.finally(() => {
          isOver = true;
        });
        over.catch(() => undefined);
        while (!isOver) {
          await reader.poll();
          polls += 1;
          await breathe();
        }
        await over;
        await reader.poll();
        for (const table of LOAD_ORDER) {
          const { mirror, copy } = await reader.compare(table);
          expect(copy).toEqual(mirror);
        }
      },
    ),
    { numRuns: sized(5, 60) },
  );
  // Otherwise nobody read while others wrote.
  expect(polls).toBeGreaterThan(sized(10, 120));
});
