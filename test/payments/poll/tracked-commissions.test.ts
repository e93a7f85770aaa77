// Tracked commissions: each is asked for when it is due, and mirrored.

import { expect, test } from 'vitest';
import type { ApiClient } from '../../../src/api/client.ts';
import { mirrorCommissions } from '../../../src/payments/mirror-commissions.ts';
import { trackCommissions } from '../../../src/payments/poll/track-commissions.ts';
import { pollTracked } from '../../../src/payments/poll/tracked-commissions.ts';
import { readTracked } from '../../../src/reports/read-status.ts';
import { losingProgram, makeTestApi, silent, useWriter } from '../write/start-writer.ts';

const writer = useWriter();
const poll = () => ({ signal: AbortSignal.timeout(100_000) });

test('tracked commissions are mirrored with what hangs on them, each asked for by one of them', async () => {
  const { freshMany, db, api, database, received, sandbox } = writer();
  const commissions = await freshMany(30);
  const [gone, settled, voided] = commissions;
  const ids = commissions.map(({ id }) => id);
  await sandbox.program.deleteCommission(gone?.id ?? '');
  await sandbox.program.updateCommission(settled?.id ?? '', { paid_at: '2020-01-01T00:00:00Z' });
  await sandbox.program.updateCommission(voided?.id ?? '', {
    due_at: '2020-01-01T00:00:00Z',
    created_at: '2020-01-01T00:00:00Z',
  });
  expect(await trackCommissions(db, [...ids, ...ids], 'finance')).toEqual({ added: 30, resumed: 0 });
  expect(await trackCommissions(db, ids, 'finance')).toEqual({ added: 0, resumed: 0 });
  expect((await readTracked({ db, mirrorSchema: 'mirror' })).rows[0]).toMatchObject({ tracked: 30, due: 30 });

  const both = await Promise.all([
    pollTracked({ client: api, db, log: silent }, poll()),
    pollTracked({ client: api, db, log: silent }, poll()),
  ]);
  expect(both.reduce((sum, { polled }) => sum + polled, 0)).toBe(29);
  expect(both.reduce((sum, { gone: missing }) => sum + missing, 0)).toBe(1);
  const asked = received('GET').filter(({ url }) => url.startsWith('/v1/commissions/'));
  expect(new Set(asked.map(({ url }) => url)).size).toBe(30);
  // The one that is gone, where nothing else was asked for before it.
  expect(asked.length).toBeLessThanOrEqual(31);
  expect((await readTracked({ db, mirrorSchema: 'mirror' })).rows[0]).toMatchObject({
    tracked: 29,
    due: 0,
    gone: 1,
    unanswered: 0,
  });
  const { rows } = await database.pool.query(
    `select count(*) as commissions, count(sa.id) as sales from commissions co left join sales sa on sa.id = co.sale_id
     where co.id = any($1)`,
    [ids],
  );
  expect(rows).toEqual([{ commissions: 29, sales: 29 }]);
  const next = await database.pool.query(
    `select commission_id, extract(epoch from next_poll_at - last_polled_at)::float8 / 3600 as hours
     from tracked_commissions where commission_id = any($1)`,
    [[gone?.id, settled?.id, voided?.id]],
  );
  const hours = new Map(next.rows.map((row) => [row.commission_id, row.hours]));
  expect(hours.get(gone?.id)).toBeNull();
  expect(hours.get(settled?.id)).toBeCloseTo(7 * 24, 0);
  expect(hours.get(voided?.id)).toBeCloseTo(24, 0);
});

test('a program that is down is asked no further, and asked again later', async () => {
  const { freshMany, db, api, sandbox, database } = writer();
  const commissions = await freshMany(25);
  await trackCommissions(
    db,
    commissions.map(({ id }) => id),
    null,
  );
  sandbox.setFaults({ shares: { '5xx': 1 }, exact: [] });
  const sum = await pollTracked({ client: api, db, log: silent }, poll());
  expect(sum).toEqual({ polled: 0, gone: 0, failed: 20 });
  const { rows } = await database.pool.query(
    `select count(*) as failed from tracked_commissions where last_error is not null and next_poll_at > now()`,
  );
  expect(rows).toEqual([{ failed: 20 }]);
});

test('a front end that loses the program in the middle of a batch marks nothing deleted', async () => {
  const { freshMany, db, sandbox, database } = writer();
  const ids = (await freshMany(8)).map(({ id }) => id);
  await database.pool.query('update tracked_commissions set next_poll_at = null');
  await trackCommissions(db, ids, null);
  const front = losingProgram(db, sandbox.url, { from: 3, to: 7 });
  const sum = await pollTracked({ client: front.api, db, log: silent }, poll());
  await front.close();
  // Every other call asked whether the program is there. The third 404 was the last: that commission is asked for
  // again.
  expect(sum).toEqual({ polled: 6, gone: 0, failed: 2 });
  for (const id of ids) expect(await isPolled(id)).toBe(true);
});

/** Polls a program that answers 404 for the commissions, once; they are tracked and alive. */
async function loseSightOf(ids: readonly string[]): Promise<void> {
  const { db, api, sandbox, database } = writer();
  await database.pool.query('update tracked_commissions set next_poll_at = null');
  await trackCommissions(db, ids, 'finance');
  const astray = makeTestApi(db, `${sandbox.url}/elsewhere`);
  const mistaken: ApiClient = { ...api, getCommission: astray.getCommission };
  expect(await pollTracked({ client: mistaken, db, log: silent }, poll())).toMatchObject({
    gone: ids.length,
  });
  await astray.close();
}

async function isPolled(id: string): Promise<boolean> {
  const { rows } = await writer().database.pool.query(
    'select next_poll_at is not null as is_polled from tracked_commissions where commission_id = $1',
    [id],
  );
  return rows[0]?.is_polled;
}

test('a commission that seemed to be gone is asked for again once it is tracked again', async () => {
  const { freshMany, db, api } = writer();
  const [mistaken, other] = (await freshMany(2)).map(({ id }) => id) as [string, string];
  await loseSightOf([mistaken]);
  expect(await isPolled(mistaken)).toBe(false);
  const ids = [mistaken, mistaken, other];
  expect(await trackCommissions(db, ids, 'finance')).toEqual({ added: 1, resumed: 1 });
  expect(await trackCommissions(db, ids, 'finance')).toEqual({ added: 0, resumed: 0 });
  expect(await pollTracked({ client: api, db, log: silent }, poll())).toEqual({
    polled: 2,
    gone: 0,
    failed: 0,
  });
});

test('a commission that was changed is tracked from then on, and asked for a day later, also one that seemed to be gone', async () => {
  const { freshMany, ask, drain, database } = writer();
  const [lost = '', other = ''] = (await freshMany(2)).map(({ id }) => id);
  await loseSightOf([lost]);
  const paid_at = new Date().toISOString();
  await ask(...[lost, other].map((id) => ({ commission_id: id, action: 'pay' as const, paid_at })));
  expect(await drain()).toMatchObject({ ended: { applied: 2 } });
  expect(await isPolled(lost)).toBe(true);
  const { rows } = await database.pool.query(
    `select tracked_by, round(extract(epoch from next_poll_at - last_polled_at) / 3600)::int as hours
     from tracked_commissions where commission_id = $1`,
    [other],
  );
  expect(rows).toEqual([{ tracked_by: 'the writer', hours: 24 }]);
});

test('a 404 marks nothing deleted that was seen alive after it was asked for', async () => {
  const { fresh, db, api, sandbox, database } = writer();
  const { id } = await fresh();
  await database.pool.query('update tracked_commissions set next_poll_at = null');
  await trackCommissions(db, [id], 'finance');
  await pollTracked({ client: api, db, log: silent }, poll());
  await database.pool.query('update tracked_commissions set next_poll_at = now() where commission_id = $1', [
    id,
  ]);
  const astray = makeTestApi(db, `${sandbox.url}/elsewhere`);
  const overtaken: ApiClient = {
    ...api,
    async getCommission(...call) {
      return await astray.getCommission(...call).finally(async () => {
        const { commission, askedAt } = await api.getCommission(id);
        const seen = { commission, observedAt: askedAt };
        await db.transaction().execute((trx) => mirrorCommissions(trx, [seen]));
      });
    },
  };
  await pollTracked({ client: overtaken, db, log: silent }, poll());
  await astray.close();
  const { rows } = await database.pool.query(
    'select _deleted_at is not null as is_deleted from commissions where id = $1',
    [id],
  );
  expect(rows).toEqual([{ is_deleted: false }]);
  expect(await isPolled(id)).toBe(true);
});
