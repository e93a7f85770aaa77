// Several pages in flight at once (API_CONCURRENCY), over HTTP, while the program changes as fast as it can. Answers
// come in no order, so the argument of the covered prefix fails: a fall of the total sends the run to the exact walk,
// and a run can miss only what the total does not show, an insertion and a deletion that cancel out.

import { beforeAll, describe, expect, test } from 'vitest';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { sized } from '../support/sizes.ts';
import { useSyncing } from './syncing.ts';

const CONCURRENCY = 6;
/** Every other one begins with an empty mirror: what it then misses cannot hide behind what was known before. */
const RUNS = sized(2, 4);
const given = useSyncing({ affiliates: 60, referrals: 3000 });

async function ids(sql: string): Promise<Set<string>> {
  const { rows } = await given().database.pool.query<{ id: string }>(sql);
  return new Set(rows.map(({ id }) => id));
}

const inProgram = () => ids('select id from sandbox.referrals');

/** Lets one change follow the other until `stop` is called; returns how many there were. */
function churn(changes: readonly (() => Promise<unknown>)[]): { stop: () => Promise<number> } {
  let isStopped = false;
  const working = (async () => {
    let done = 0;
    for (; !isStopped; done += 1) await changes[done % changes.length]?.();
    return done;
  })();
  return {
    stop: () => {
      isStopped = true;
      return working;
    },
  };
}

const insert = () => given().sandbox.program.insertReferral();
// Anywhere in the list, the same places in every run.
let place = 0;
const remove = async () => {
  place = (place * 7919 + 104_729) % 2000;
  const [id] = await ids(
    `select id from sandbox.referrals order by created_at desc, id offset ${place} limit 1`,
  );
  if (id !== undefined) await given().sandbox.program.deleteReferral(id);
};

beforeAll(async () => {
  await given().syncBoth({ concurrency: CONCURRENCY });
});

const MOVES = [
  { what: 'while rows only vanish', changes: [remove], mayMiss: false },
  { what: 'while rows only appear', changes: [insert], mayMiss: false },
  { what: 'while rows vanish and appear', changes: [remove, insert], mayMiss: true },
];

describe('with several pages in flight', () => {
  test.each(sized(MOVES.slice(0, 1), MOVES))(
    'no verified run misses a row that lived through it, or marks one deleted, $what',
    async (given_) => {
      const { changes, mayMiss } = given_;
      const { sync, database } = given();
      let verified = 0;
      let missed = 0;
      for (let run = 0; run < RUNS; run += 1) {
        if (run % 2 === 1) await database.pool.query('truncate referrals');
        const before = await inProgram();
        const moving = churn(changes);
        const summary = await sync('referrals', { concurrency: CONCURRENCY, acceptDeletes: true });
        expect(await moving.stop()).toBeGreaterThan(0);
        const after = await inProgram();
        const mirrored = await ids('select id from referrals where _deleted_at is null');
        const marked = await ids('select id from referrals where _deleted_at is not null');
        expect([...marked].filter((id) => after.has(id))).toEqual([]);
        if (!summary.verified) continue;
        verified += 1;
        missed += [...before].filter((id) => after.has(id) && !mirrored.has(id)).length;
      }
      expect(verified).toBeGreaterThan(0);
      if (!mayMiss) expect(missed).toBe(0);
    },
  );

  test('the first run after the program comes to rest makes the mirror equal to it, row for row', async () => {
    const { syncBoth, database, sandbox } = given();
    const runs = await syncBoth({ concurrency: CONCURRENCY, acceptDeletes: true });
    expect(runs.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
  });
});
