// Syncs of a program that changes meanwhile: records appear, change and vanish between any two answers, and payments
// are made beside the syncs of commissions.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiRejected } from '../../src/base/errors.ts';
import { transact } from '../../src/db/transact.ts';
import { mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import {
  readMirror,
  readMirrorEarnings,
  readProgram,
  readProgramEarnings,
} from '../support/compare-with-program.ts';
import { type Syncing, useSyncing } from '../sync/syncing.ts';

const EVENTS_PER_SECOND = 200;
/** Every other one begins with an empty mirror: what it then misses cannot hide behind what was known before. */
const RUNS = 6;

const PROGRAM = { affiliates: 100, live: { eventsPerSecond: EVENTS_PER_SECOND } };

const SUBJECTS = [
  { resource: 'referrals', tables: 'referrals', program: { ...PROGRAM, referrals: 4000 }, beside: null },
  {
    resource: 'commissions',
    // A sale is only known through its commissions.
    tables: 'commissions, sales',
    program: { ...PROGRAM, referrals: 6000, optionalLists: ['commissions'] },
    beside: payAndRemove,
  },
] as const;

describe.each(SUBJECTS)(
  'while the $resource of the program change',
  ({ resource, tables, program, beside }) => {
    const given = useSyncing(program);
    const over = new AbortController();
    let besides: Promise<void> | null = null;

    async function ids(sql: string): Promise<Set<string>> {
      const { rows } = await given().database.pool.query<{ id: string }>(sql);
      return new Set(rows.map(({ id }) => id));
    }

    const inProgram = () => ids(`select id from sandbox.${resource}`);
    const inMirror = () => ids(`select id from ${resource} where _deleted_at is null`);
    const markedDeleted = () => ids(`select id from ${resource} where _deleted_at is not null`);

    async function comeToRest(): Promise<void> {
      over.abort();
      await besides;
      await given().sandbox.live.stop();
    }

    beforeAll(async () => {
      await given().syncBoth();
      if (resource === 'commissions') await given().sync(resource);
      besides = beside === null ? null : beside(given(), over.signal);
      // Reported where it is awaited.
      besides?.catch(() => undefined);
    });
    afterAll(comeToRest);

    test('no verified run misses one that existed all through it, and none that exists is ever marked deleted', async () => {
      const { sync, database } = given();
      let moved = 0;
      let verified = 0;
      for (let run = 0; run < RUNS; run += 1) {
        if (run % 2 === 1) await database.pool.query(`truncate ${tables}`);
        const before = await inProgram();
        const summary = await sync(resource);
        const mirrored = await inMirror();
        const after = await inProgram();
        const lived = [...before].filter((id) => after.has(id));
        if (before.size !== after.size || lived.length < before.size) moved += 1;
        if (summary.verified) {
          verified += 1;
          expect(lived.filter((id) => !mirrored.has(id))).toEqual([]);
        }
        const marked = await markedDeleted();
        expect([...marked].filter((id) => after.has(id))).toEqual([]);
      }
      // Otherwise the runs above proved nothing.
      expect(moved).toBe(RUNS);
      expect(verified).toBeGreaterThan(0);
    });

    test('after it comes to rest, one sync makes the mirror equal to it, row for row, and no payment was ever undone', async () => {
      const { sandbox, syncBoth, sync, database } = given();
      await comeToRest();
      const runs = await syncBoth({ acceptDeletes: true });
      if (resource === 'commissions') runs.push(await sync(resource, { acceptDeletes: true }));
      expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'succeeded'));
      expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
      if (resource !== 'commissions') return;
      expect(await readMirrorEarnings(database.pool)).toEqual(await readProgramEarnings(sandbox));
      const { rows } = await database.pool.query(
        `select count(*) filter (where after ->> 'paid_at' is not null) as paid,
         count(*) filter (where after ->> 'paid_at' is null) as undone
       from record_history where table_name = 'commissions' and after ? 'paid_at'`,
      );
      expect(rows).toEqual([{ paid: expect.toSatisfy((paid: number) => paid > 0), undone: 0 }]);
    });
  },
);

/** Pays one commission after the other as the writer does, and removes and adds others, until the signal aborts. */
async function payAndRemove({ api, db, sandbox, database }: Syncing, signal: AbortSignal): Promise<void> {
  const pick = async (sql: string) => {
    const { rows } = await database.pool.query<{ id: string }>(`${sql} order by random() limit 1`);
    return rows[0]?.id ?? '';
  };
  const pay = async (id: string) => {
    const { commission, answeredAt } = await api.putCommission(id, { paid_at: '2026-09-01T00:00:00Z' });
    await transact(db, (trx) => mirrorCommissions(trx, [{ commission, observedAt: answeredAt }]));
  };
  while (!signal.aborted) {
    await pay(await pick(`select id from sandbox.commissions where state = 'due'`)).catch((error) => {
      // Deleted meanwhile.
      if (!(error instanceof ApiRejected)) throw error;
    });
    await sandbox.program.deleteCommission(await pick('select id from sandbox.commissions'));
    await sandbox.program.insertSale(await pick('select referral_id as id from sandbox.sales')).catch(() => {
      // Its referral was deleted meanwhile.
    });
    await sleep(5);
  }
}
