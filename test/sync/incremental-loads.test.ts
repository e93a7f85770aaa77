// The statements of docs/incremental-loads.md and the incremental model of docs/dbt, run again and again beside the
// syncs and payments of a living program: in the end the copies are the mirror's tables.

import { expect, test } from 'vitest';
import { OPTIONAL_LISTS } from '../../src/contract/optional-lists.ts';
import { LISTED_RESOURCES } from '../../src/contract/resources.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { transact } from '../../src/db/transact.ts';
import { LOAD_ORDER } from '../../src/decode/mirrored-tables.ts';
import { mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import { buildModel, readModel, runIncrement, TARGET } from '../../tools/dbt/compile-model.ts';
import { makeWatermarkReader } from '../mirror/watermark-reader.ts';
import { BLOCKS } from '../support/read-docs.ts';
import { sized } from '../support/sizes.ts';
import { type Syncing, useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 4, referrals: 60, optionalLists: OPTIONAL_LISTS });

const SYNCS = sized(24, 360);
/** So often a sync reads everything, finds deletions and marks them. */
const FULL_EVERY = 12;

/** So often the copies of all tables are loaded, beside those of the page. */
const WHOLE_EVERY = 4;

/** Returns the statements of the page: those that make the copies, and those that load them. */
function readRecipe(): { readonly makes: readonly string[]; readonly loads: readonly string[] } {
  const statements = BLOCKS.filter(
    ({ page, language }) => page === 'docs/incremental-loads.md' && language === 'sql',
  ).flatMap(({ text }) => text.split(/;$/m).map((statement) => statement.trim()));
  return {
    makes: statements.filter((statement) => statement.startsWith('create ')),
    loads: statements.filter((statement) => /^(?:merge|insert) into warehouse\./.test(statement)),
  };
}

/** Pays a commission, or marks it unpaid, as the writer does. */
async function payOrUnpay({ api, db, database }: Syncing): Promise<void> {
  const { rows } = await database.pool.query<{ id: string; paid_at: string | null }>(
    `select id, paid_at from sandbox.commissions where voided_at is null order by random() limit 1`,
  );
  const [picked] = rows;
  if (picked === undefined) return;
  const paid_at = picked.paid_at === null ? '2026-05-01T00:00:00Z' : null;
  // It may be deleted by now.
  const answer = await api.putCommission(picked.id, { paid_at }).catch(() => null);
  if (answer === null) return;
  const observed = { commission: answer.commission, observedAt: answer.answeredAt };
  await transact(db, (trx) => mirrorCommissions(trx, [observed]));
}

test('copies that are loaded while a living program is synced and paid from end as the mirror’s tables', async () => {
  const { database, sandbox, sync } = given();
  const { pool } = database;
  const { makes, loads } = readRecipe();
  expect(loads.map((load) => load.split('\n')[0])).toEqual([
    'merge into warehouse.referrals as kept',
    'insert into warehouse.commissions as kept',
    'insert into warehouse.record_history',
  ]);
  for (const make of makes) await pool.query(make);
  const reader = await makeWatermarkReader(pool, LOAD_ORDER);
  const model = readModel('incremental/referrals_loaded.sql');
  await buildModel(pool, model);
  const poll = async () => {
    for (const load of loads) await pool.query(load);
    await runIncrement(pool, model);
  };

  for (let run = 0; run < SYNCS; run += 1) {
    const resource = LISTED_RESOURCES[run % LISTED_RESOURCES.length] ?? 'referrals';
    const mode = run % FULL_EVERY < LISTED_RESOURCES.length ? 'full' : 'delta';
    await Promise.all([
      sync(resource, { mode, acceptDeletes: mode === 'full' }),
      payOrUnpay(given()),
      sandbox.live.step(),
      poll(),
      run % WHOLE_EVERY === 0 ? reader.poll() : null,
    ]);
  }
  await poll();
  await reader.poll();

  for (const table of LOAD_ORDER) {
    const { mirror, copy } = await reader.compare(table);
    expect(copy).toEqual(mirror);
  }
  const columns = 'id, affiliate_id, conversion_state, customer_id, created_at, _changed_at, _deleted_at';
  await expectSame(pool, 'referrals', columns);
  await expectSame(
    pool,
    'commissions',
    'id, sale_id, amount, state, due_at, paid_at, _changed_at, _deleted_at',
  );
  await expectSame(pool, 'record_history', '*');
  const ofModel = await pool.query(`select ${columns} from ${TARGET}.referrals_loaded order by id`);
  expect(ofModel.rows).toEqual(
    (await pool.query(`select ${columns} from mirror.referrals order by id`)).rows,
  );
  const { rows } = await pool.query<{ change: string }>(
    'select distinct change from mirror.record_history order by change',
  );
  expect(rows.map(({ change }) => change)).toEqual(expect.arrayContaining(['inserted', 'updated']));
});

async function expectSame(pool: Pool, table: string, columns: string): Promise<void> {
  const read = async (schema: string) =>
    (await pool.query(`select ${columns} from ${schema}.${table} order by id`)).rows;
  const rows = await read('mirror');
  expect(rows.length).toBeGreaterThan(0);
  expect(await read('warehouse')).toEqual(rows);
}
