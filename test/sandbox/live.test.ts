// Time passing in the program: live steps, and the changes that tests make by hand.

import { describe, expect, it } from 'vitest';
import { liveEvents } from '../../src/sandbox/live.ts';
import { settlePayouts } from '../../src/sandbox/payouts.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox, type TestSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();

/** The number of affiliates and links whose counters are not what their referrals say. */
async function wrongCounters(schema: string): Promise<number> {
  const wrong = (owner: string) =>
    `select o.id from ${schema}.${owner}s o left join ${schema}.referrals r on r.${owner}_id = o.id
     group by o.id having (o.visitors, o.leads, o.conversions) is distinct from
       (count(r.id), count(r.id) filter (where r.conversion_state in ('lead', 'conversion')),
        count(r.id) filter (where r.conversion_state = 'conversion'))`;
  const { rows } = await pool.query(`${wrong('affiliate')} union all ${wrong('link')}`);
  return rows.length;
}

/** The days of lists whose count is not what the list holds. */
async function wrongDays(schema: string): Promise<unknown[]> {
  const held = [
    ['affiliates', 'state'],
    ['referrals', 'conversion_state'],
    ['campaigns', "'any'"],
    ['commissions', 'state'],
    ['payouts', 'state'],
  ].map(
    ([list, state]) =>
      `select '${list}' as list, (created_at at time zone 'UTC')::date as day, ${state} as state, count(*) as records
         from ${schema}.${list} group by 2, 3`,
  );
  const { rows } = await pool.query(
    `select * from (${held.join(' union all ')}) held
       full join (select * from ${schema}.list_days where records <> 0) counted using (list, day, state)
      where held.records is distinct from counted.records`,
  );
  return rows;
}

async function steps(sandbox: TestSandbox, count: number) {
  const events: { kind: string; id: string }[] = [];
  for (let step = 0; step < count; step += 1) events.push(await sandbox.live.step());
  return events;
}

describe('A live step', () => {
  it('is the same for the same seed and program', async () => {
    const one = await runSandbox(pool, { schema: 'one' });
    const other = await runSandbox(pool, { schema: 'other' });
    expect(await steps(one, 60)).toEqual(await steps(other, 60));
    await Promise.all([one.close(), other.close()]);
  });

  it.each([
    ['neutral', []],
    ['live', ['payouts']],
  ] as const)(
    'brings every kind of event in time, %s with the lists %j, keeps the counters right, and nothing is in the future',
    async (spelling, optionalLists) => {
      const sandbox = await runSandbox(pool, { schema: `long_${spelling}`, spelling, optionalLists });
      const kinds = Object.keys(liveEvents(optionalLists.length > 0));
      const seen = new Set<string>();
      for (let step = 0; step < 1_500 && seen.size < kinds.length; step += 1) {
        seen.add((await sandbox.live.step()).kind);
      }
      expect([...seen].sort()).toEqual(kinds.sort());
      await settlePayouts(pool, `long_${spelling}`);
      expect(await wrongCounters(`long_${spelling}`)).toBe(0);
      expect(await wrongDays(`long_${spelling}`)).toEqual([]);
      const { rows } = await pool.query(
        `select 1 from (select created_at, updated_at from long_${spelling}.affiliates
                      union all select created_at, updated_at from long_${spelling}.referrals
                      union all select created_at, updated_at from long_${spelling}.sales
                      union all select created_at, updated_at from long_${spelling}.commissions
                      union all select created_at, updated_at from long_${spelling}.payouts) t
        where created_at > clock_timestamp() or updated_at > clock_timestamp()`,
      );
      expect(rows).toEqual([]);
      await sandbox.close();
    },
  );

  it('happens by itself at the rate given, until the sandbox is closed', async () => {
    const sandbox = await runSandbox(pool, { schema: 'timed', live: { eventsPerSecond: 200 } });
    const taken = async () => {
      const { rows } = await pool.query('select steps::integer as steps from timed.sandbox_program');
      return rows[0].steps as number;
    };
    await expect.poll(taken).toBeGreaterThan(3);
    await sandbox.close();
    const atTheEnd = await taken();
    // At that rate, so many queries leave room for several steps.
    for (let query = 0; query < 100; query += 1) expect(await taken()).toBe(atTheEnd);
  });
});
