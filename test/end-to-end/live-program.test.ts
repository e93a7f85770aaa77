// Syncs of a program that changes meanwhile: referrals appear, change and vanish between any two answers.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { sized } from '../support/sizes.ts';
import { useSyncing } from '../sync/syncing.ts';

const EVENTS_PER_SECOND = 200;
/** Every other one begins with an empty mirror: what it then misses cannot hide behind what was known before. */
const RUNS = sized(4, 8);
const given = useSyncing({ affiliates: 100, referrals: 4000, live: { eventsPerSecond: EVENTS_PER_SECOND } });

async function ids(sql: string): Promise<Set<string>> {
  const { rows } = await given().database.pool.query<{ id: string }>(sql);
  return new Set(rows.map(({ id }) => id));
}

const inProgram = () => ids('select id from sandbox.referrals');
const inMirror = () => ids('select id from referrals where _deleted_at is null');
const tombstones = () => ids('select id from referrals where _deleted_at is not null');

describe('while the program changes', () => {
  beforeAll(async () => {
    await given().syncBoth();
  });
  afterAll(() => given().sandbox.live.stop());

  test('no verified run misses a referral that lived through it, and none is ever marked deleted while it lives', async () => {
    const { sync, database } = given();
    let moved = 0;
    let verified = 0;
    for (let run = 0; run < RUNS; run += 1) {
      if (run % 2 === 1) await database.pool.query('truncate referrals');
      const before = await inProgram();
      const summary = await sync('referrals');
      const mirrored = await inMirror();
      const after = await inProgram();
      const lived = [...before].filter((id) => after.has(id));
      if (before.size !== after.size || lived.length < before.size) moved += 1;
      if (summary.verified) {
        verified += 1;
        expect(lived.filter((id) => !mirrored.has(id))).toEqual([]);
      }
      const marked = await tombstones();
      expect([...marked].filter((id) => after.has(id))).toEqual([]);
    }
    // Otherwise the runs above proved nothing.
    expect(moved).toBe(RUNS);
    expect(verified).toBeGreaterThan(0);
  });

  test('after it comes to rest, one sync makes the mirror equal to it, row for row', async () => {
    const { sandbox, syncBoth, database } = given();
    await sandbox.live.stop();
    const runs = await syncBoth({ acceptDeletes: true });
    expect(runs.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
  });
});
