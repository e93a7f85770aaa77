// Time passing in the program: live steps, and the changes that tests make by hand.

import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { LIVE_EVENT_KINDS } from '../../src/sandbox/live.ts';
import { SPELLINGS } from '../../src/sandbox/wire.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
});

/** The number of affiliates and links whose counters are not what their referrals say. */
async function wrongCounters(schema: string): Promise<number> {
  const { rows } = await pool.query(
    ['affiliate', 'link']
      .map(
        (
          owner,
        ) => `select o.id from ${schema}.${owner}s o left join ${schema}.referrals r on r.${owner}_id = o.id
           group by o.id having (o.visitors, o.leads, o.conversions) is distinct from
             (count(r.id),
              count(r.id) filter (where r.conversion_state in ('lead', 'conversion')),
              count(r.id) filter (where r.conversion_state = 'conversion'))`,
      )
      .join(' union all '),
  );
  return rows.length;
}

/** The days of lists whose count is not what the list holds. */
async function wrongDays(schema: string): Promise<unknown[]> {
  const held = [
    ['affiliates', 'state'],
    ['referrals', 'conversion_state'],
    ['campaigns', "'any'"],
    ['commissions', 'state'],
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

  it('goes on after a restart where it had stopped', async () => {
    const straight = await runSandbox(pool, { schema: 'straight' });
    const events = await steps(straight, 20);
    const first = await runSandbox(pool, { schema: 'broken' });
    const before = await steps(first, 10);
    await first.close();
    const second = await runSandbox(pool, { schema: 'broken' });
    expect([...before, ...(await steps(second, 10))]).toEqual(events);
    await Promise.all([straight.close(), second.close()]);
  });

  it.each(SPELLINGS)(
    'brings every kind of event in time, %s, keeps the counters right, and nothing is in the future',
    async (spelling) => {
      const sandbox = await runSandbox(pool, { schema: `long_${spelling}`, spelling });
      const seen = new Set<string>();
      for (let step = 0; step < 1_500 && seen.size < LIVE_EVENT_KINDS.length; step += 1) {
        seen.add((await sandbox.live.step()).kind);
      }
      expect([...seen].sort()).toEqual([...LIVE_EVENT_KINDS].sort());
      expect(await wrongCounters(`long_${spelling}`)).toBe(0);
      expect(await wrongDays(`long_${spelling}`)).toEqual([]);
      const { rows } = await pool.query(
        `select 1 from (select created_at, updated_at from long_${spelling}.affiliates
                      union all select created_at, updated_at from long_${spelling}.referrals
                      union all select created_at, updated_at from long_${spelling}.sales
                      union all select created_at, updated_at from long_${spelling}.commissions) t
        where created_at > clock_timestamp() or updated_at > clock_timestamp()`,
      );
      expect(rows).toEqual([]);
      await sandbox.close();
    },
  );

  it('begins a program that holds no affiliate', async () => {
    const sandbox = await runSandbox(pool, { schema: 'empty', affiliates: 0, referrals: 0 });
    const events = await steps(sandbox, 5);
    expect(events[0]?.kind).toBe('affiliate_joins');
    await sandbox.close();
  });

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

describe('The program that a test changes', () => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox(pool, { schema: 'program', spelling: 'live' });
    return () => sandbox.close();
  });
  const total = async () => (await sandbox.referrals('?limit=1')).pagination.total_count;

  it('a referral inserted is the newest, counts, and is gone when it is deleted', async () => {
    const before = await total();
    const { id, affiliate_id } = await sandbox.program.insertReferral();
    const { data, pagination } = await sandbox.referrals('?limit=1&expand=affiliate');
    expect(data[0]).toMatchObject({ id, conversion_state: 'visitor', affiliate: { id: affiliate_id } });
    expect(pagination.total_count).toBe(before + 1);
    expect(await sandbox.program.deleteReferral(id)).toBe(true);
    expect(await sandbox.program.deleteReferral(id)).toBe(false);
    expect(await total()).toBe(before);
    expect(await wrongCounters('program')).toBe(0);
  });

  it('what the fields say is taken as it is, also what breaks the contract', async () => {
    const fields = {
      id: 'no-uuid',
      created_at: '2025-02-03T04:05:06.789Z',
      conversion_state: 'something_new',
      customer_email: 'given@example.com',
      visits: 99,
    };
    await sandbox.program.insertReferral(fields);
    const body = (await sandbox.get('/v1/referrals?email=given@example.com')) as { data: unknown[] };
    const { customer_email: _, ...shown } = fields;
    expect(body.data).toEqual([expect.objectContaining(shown)]);
    await sandbox.program.deleteReferral('no-uuid');
  });

  it('a referral that moves between states and links moves the counters with it', async () => {
    const from = await sandbox.program.insertAffiliate();
    const { id } = await sandbox.program.insertReferral({ affiliate_id: from.id });
    const counters = async (email: string) => {
      const [item] = (await sandbox.affiliates(`?email=${email}&expand=links`)).data;
      const link = item?.links?.[0];
      return [item?.visitors, item?.leads, item?.conversions, link?.visitors, link?.leads, link?.conversions];
    };
    expect(await counters(from.email)).toEqual([1, 0, 0, 1, 0, 0]);
    await sandbox.program.updateReferral(id, { conversion_state: 'lead' });
    expect(await counters(from.email)).toEqual([1, 1, 0, 1, 1, 0]);
    await sandbox.program.updateReferral(id, { conversion_state: 'conversion', link_id: null });
    expect(await counters(from.email)).toEqual([1, 1, 1, 0, 0, 0]);
    const to = await sandbox.program.insertAffiliate();
    await sandbox.program.updateReferral(id, { affiliate_id: to.id });
    expect(await counters(from.email)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await counters(to.email)).toEqual([1, 1, 1, 0, 0, 0]);
    expect(await wrongCounters('program')).toBe(0);
    await sandbox.program.updateReferral(id, { created_at: '2025-02-03T04:05:06.789Z' });
    await sandbox.program.updateAffiliate(to.id, {
      created_at: '2025-02-03T04:05:06.789Z',
      state: 'disabled',
    });
    expect(await wrongDays('program')).toEqual([]);
  });

  it('an affiliate deleted takes its referrals and commissions with it', async () => {
    const { id } = await sandbox.program.insertAffiliate();
    const referral = await sandbox.program.insertReferral({
      affiliate_id: id,
      conversion_state: 'conversion',
    });
    const { commission } = await sandbox.program.insertSale(referral.id);
    const before = await total();
    expect(await sandbox.program.deleteAffiliate(id)).toBe(true);
    expect(await total()).toBe(before - 1);
    expect((await sandbox.send('GET', `/v1/commissions/${commission.id}`)).status).toBe(404);
    expect(await wrongCounters('program')).toBe(0);
  });

  it('a commission deleted is 404, for GET and for PUT', async () => {
    const { id } = await sandbox.program.insertReferral({ conversion_state: 'conversion' });
    const { commission } = await sandbox.program.insertSale(id, { commission: { amount: 1234 } });
    expect((await sandbox.commission(commission.id)).amount).toBe(1234);
    await sandbox.program.updateCommission(commission.id, { amount: 4321 });
    expect((await sandbox.commission(commission.id)).amount).toBe(4321);
    await sandbox.program.deleteCommission(commission.id);
    expect((await sandbox.send('GET', `/v1/commissions/${commission.id}`)).status).toBe(404);
    expect((await sandbox.put(commission.id, 'paid_at=')).status).toBe(404);
  });

  it('an update moves updated_at unless it is given', async () => {
    const affiliate = await sandbox.program.insertAffiliate({ updated_at: '2025-01-01T00:00:00.000Z' });
    const shown = async () => (await sandbox.affiliates(`?email=${affiliate.email}`)).data[0];
    await sandbox.program.updateAffiliate(affiliate.id, { last_name: 'Renamed' });
    expect(await shown()).toMatchObject({ last_name: 'Renamed' });
    expect(Date.parse((await shown())?.updated_at ?? '')).toBeGreaterThan(Date.parse('2026-01-01'));
    await sandbox.program.updateAffiliate(affiliate.id, { updated_at: '2025-02-02T00:00:00.000Z' });
    expect((await shown())?.updated_at).toBe('2025-02-02T00:00:00.000Z');
  });
});
