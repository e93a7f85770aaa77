// Rows of which the database refuses one: it alone is left out, wherever it stands, and every other is stored once.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { transact } from '../../src/db/transact.ts';
import { decodePage } from '../../src/decode/decode-page.ts';
import { PLAIN } from '../../src/decode/treatment.ts';
import { loadBatch } from '../../src/mirror/load-batch.ts';
import { makeSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { makeFirstLoad } from '../../src/mirror/send-rows.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildReferral } from './build-records.ts';
import { at } from './load.ts';

const { db } = await createTestDatabase();
const { id } = await startRun(db, { resource: 'referrals', mode: 'full' });

test.each([0, 3, 6])('of seven rows, the refused one at place %i', async (place) => {
  await sql`truncate referrals, links, rejected_records, seen_rows`.execute(db);
  const records = Array.from({ length: 7 }, (_, index) => buildReferral({ visits: index }));
  await sql`alter table referrals drop constraint if exists refused, add constraint refused
    check (visits <> ${sql.lit(place)})`.execute(db);
  const page = decodePage({ resource: 'referrals', drift: null, treatment: PLAIN, fast: null }, [
    { observedAt: at(1), records },
  ]);
  const run = { id, seen: makeSeenRows(), firstLoad: makeFirstLoad(false) };
  const result = await transact(db, (trx) =>
    loadBatch(trx, { run, resource: 'referrals', pages: [page], isInHalves: true }),
  );
  expect(result).toMatchObject({ seen: 7, inserted: 6, rejected: 1 });
  const { rows } = await sql<{ visits: number }>`select visits from referrals order by visits`.execute(db);
  expect(rows.map(({ visits }) => visits)).toEqual([0, 1, 2, 3, 4, 5, 6].filter((one) => one !== place));
  const { rows: rejected } = await sql`select record_id from rejected_records`.execute(db);
  expect(rejected).toEqual([{ record_id: records[place]?.id }]);
});
