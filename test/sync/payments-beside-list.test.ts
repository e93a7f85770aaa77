// Payments while their commissions are being listed: what a payment observed is newer than the page that was asked for
// before it, and committed after it.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { ApiRejected } from '../../src/base/errors.ts';
import {
  markCommissionsDeleted,
  mirrorCommissions,
  type ObservedCommission,
} from '../../src/payments/mirror-commissions.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { readMirrorEarnings, readProgramEarnings } from '../support/compare-with-program.ts';
import { listParsed } from './list-parsed.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 20, referrals: 500, optionalLists: ['commissions'] });
const PAID_AT = '2026-05-01T00:00:00Z';

async function mirror(observed: ObservedCommission): Promise<void> {
  await given()
    .db.transaction()
    .execute((trx) => mirrorCommissions(trx, [observed]));
}

async function pickUnpaid(): Promise<string> {
  const { rows } = await given().database.pool.query<{ id: string }>(
    `select id from sandbox.commissions where state = 'due' order by id limit 1`,
  );
  return rows[0]?.id ?? '';
}

async function paymentsOf(id: string) {
  const { pool } = given().database;
  const { rows } = await pool.query('select paid_at, state from commissions where id = $1', [id]);
  const { rows: changes } = await pool.query<{ paid_at: string | null }>(
    `select after ->> 'paid_at' as paid_at from record_history
     where table_name = 'commissions' and record_id = $1 and after ? 'paid_at' order by id`,
    [id],
  );
  return { ...rows[0], changes: changes.map(({ paid_at }) => paid_at !== null) };
}

/**
 * Syncs commissions; `meanwhile` happens once, when the page with that commission was answered and is not loaded yet.
 */
async function syncWhile(id: string, meanwhile: () => Promise<void>) {
  const { api, db } = given();
  let happened = 0;
  const overtaken: ApiClient = {
    ...api,
    async list(resource, query, options) {
      const page = await listParsed(api)(resource, query, options);
      if (happened > 0 || !page.data.some((record) => (record as { id: string }).id === id)) return page;
      happened += 1;
      await meanwhile();
      return page;
    },
  };
  const run = await runSync(
    { api: overtaken, db, log: pino({ level: 'silent' }) },
    { resource: 'commissions', mode: 'full', acceptDeletes: false },
  );
  expect(run).toMatchObject({ state: 'succeeded', verified: true, rows_deleted: 0 });
  expect(happened).toBe(1);
}

test('what a payment’s PUT was answered stays', async () => {
  const { api, database, sandbox, sync } = given();
  await sync('commissions');
  const id = await pickUnpaid();
  await syncWhile(id, async () => {
    const { commission, answeredAt } = await api.putCommission(id, { paid_at: PAID_AT });
    await mirror({ commission, observedAt: answeredAt });
  });
  expect(await paymentsOf(id)).toEqual({ paid_at: PAID_AT, state: 'paid', changes: [true] });
  expect(await readMirrorEarnings(database.pool)).toEqual(await readProgramEarnings(sandbox));
});

test('what a payment’s GET was answered stays, also where it showed nothing new', async () => {
  const { api, sandbox, sync } = given();
  await sync('commissions');
  const id = await pickUnpaid();
  // Somebody pays it elsewhere, a page shows that, and then it is taken back: the mirror has only known it as unpaid.
  await sandbox.put(id, `paid_at=${PAID_AT}`);
  await syncWhile(id, async () => {
    await sandbox.put(id, 'paid_at=');
    await sandbox.program.updateCommission(id, { updated_at: await updatedAt(id) });
    const { commission, askedAt } = await api.getCommission(id);
    expect(commission.paid_at).toBeNull();
    await mirror({ commission, observedAt: askedAt });
  });
  expect(await paymentsOf(id)).toEqual({ paid_at: null, state: 'due', changes: [] });
});

test('a commission that a payment found gone stays marked deleted', async () => {
  const { api, sandbox, sync, database } = given();
  await sync('commissions');
  const id = await pickUnpaid();
  await syncWhile(id, async () => {
    await sandbox.program.deleteCommission(id);
    const answer = await api.getCommission(id).catch((error: unknown) => error);
    if (!(answer instanceof ApiRejected)) throw new TypeError('it is still there');
    await given()
      .db.transaction()
      .execute((trx) => markCommissionsDeleted(trx, [{ id, askedAt: answer.askedAt }]));
  });
  const { rows } = await database.pool.query(
    'select _deleted_at is not null as is_deleted from commissions where id = $1',
    [id],
  );
  expect(rows).toEqual([{ is_deleted: true }]);
});

async function updatedAt(id: string): Promise<string> {
  const { rows } = await given().database.pool.query('select updated_at from commissions where id = $1', [
    id,
  ]);
  return rows[0].updated_at;
}
