// A page that was answered before a payment, and committed after it, in exactly that order.

import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { mirrorCommissions } from '../../src/commissions/mirror-commissions.ts';
import { loadBatch } from '../../src/mirror/load-batch.ts';
import { readPages } from '../../src/records/read-page.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 20, referrals: 250 });

interface Sold {
  readonly commissionId: string;
  readonly referralId: string;
  readonly affiliateId: string;
}

async function pickUnpaid(): Promise<Sold> {
  const { rows } = await given().database.pool.query<Sold>(
    `select c.id as "commissionId", s.referral_id as "referralId", r.affiliate_id as "affiliateId"
     from sandbox.commissions c join sandbox.sales s on s.id = c.sale_id
       join sandbox.referrals r on r.id = s.referral_id
     where c.paid_at is null order by c.id limit 1`,
  );
  const [sold] = rows;
  if (sold === undefined) throw new Error('the program has no unpaid commission');
  return sold;
}

/** Pays as the writer does: the answer is mirrored, observed when it came. */
async function pay(id: string): Promise<void> {
  const { api, db } = given();
  const { commission, answeredAt } = await api.putCommission(id, { paid_at: '2026-05-01T00:00:00Z' });
  await db.transaction().execute((trx) => mirrorCommissions(trx, [{ commission, observedAt: answeredAt }]));
}

async function paidAt(id: string): Promise<string | null> {
  const { rows } = await given().database.pool.query('select paid_at from commissions where id = $1', [id]);
  return rows[0].paid_at;
}

describe('a payment is kept', () => {
  test('against a read of the commission that was answered before it and is committed after it', async () => {
    const { api, db } = given();
    const { commissionId } = await pickUnpaid();
    const read = await api.getCommission(commissionId);
    await pay(commissionId);
    const page = readPages({ cache: null, drift: null }, 'commissions', [
      { observedAt: read.askedAt, records: [read.commission] },
    ]);
    const late = await db
      .transaction()
      .execute((trx) => loadBatch(trx, { run: null, resource: 'commissions', pages: [page], touch: true }));
    expect(read.commission.paid_at).toBeNull();
    expect(late).toMatchObject({ seen: 1, unchanged: 1, updated: 0 });
    expect(await paidAt(commissionId)).toBe('2026-05-01T00:00:00Z');
  });

  test('against a page of a sync, and so is what its answer said of the referral and the affiliate', async () => {
    const { api, db, sandbox, database, syncBoth } = given();
    await syncBoth();
    const { commissionId, referralId, affiliateId } = await pickUnpaid();
    let overtaken = 0;
    const overtaking: ApiClient = {
      ...api,
      async list(resource, query, options) {
        const page = await api.list(resource, query, options);
        if (overtaken > 0 || !page.data.some((record) => (record as { id: string }).id === referralId))
          return page;
        overtaken += 1;
        await sandbox.program.updateReferral(referralId, { visits: 4711 });
        await sandbox.program.updateAffiliate(affiliateId, { first_name: 'Renamed' });
        await pay(commissionId);
        return page;
      },
    };
    const summary = await runSync(
      { api: overtaking, db, log: pino({ level: 'silent' }) },
      { resource: 'referrals', mode: 'full', acceptDeletes: false },
    );
    expect(summary).toMatchObject({ state: 'succeeded', verified: true });
    expect(overtaken).toBe(1);
    expect(await paidAt(commissionId)).toBe('2026-05-01T00:00:00Z');
    const { rows } = await database.pool.query(
      `select r.visits, a.first_name from referrals r join affiliates a on a.id = r.affiliate_id where r.id = $1`,
      [referralId],
    );
    expect(rows).toEqual([{ visits: 4711, first_name: 'Renamed' }]);
    expect((await readMirror(database.pool)).referrals).toEqual((await readProgram(sandbox)).referrals);
    const { rows: changes } = await database.pool.query(
      `select before ->> 'visits' is not null as was_visited, after ->> 'visits' as visits from record_history
       where table_name = 'referrals' and record_id = $1 order by id`,
      [referralId],
    );
    expect(changes).toEqual([{ was_visited: true, visits: '4711' }]);
  });
});
