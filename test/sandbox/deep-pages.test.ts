// Where a page begins: right for every page whatever came and went, and read from its own day on, not from the top.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeReadListPage } from '../../src/sandbox/list-page.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import { runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let sandbox: TestSandbox;
const REFERRALS = sized(8000, 60_000);
const LIMIT = 100;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
  sandbox = await runSandbox(pool, { spelling: 'live', affiliates: 400, referrals: REFERRALS });
});
afterAll(() => sandbox.close());

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** How many rows of the list Postgres reads for that page, those that it throws away included. */
async function rowsRead(page: number, states: readonly string[]): Promise<number> {
  let read = Number.NaN;
  const client = await pool.connect();
  const explaining = {
    async query(statement: pg.QueryConfig & { values: unknown[] }) {
      // Postgres decides after five times whether it keeps a plan for all pages.
      for (let times = 0; times < 6; times += 1) await client.query(statement);
      const values = statement.values.map((value) =>
        Array.isArray(value) ? `'{${value}}'` : pg.escapeLiteral(String(value)),
      );
      const { rows } = await client.query(
        `explain (analyze, format json) execute "${statement.name}" (${values})`,
      );
      read = countRows(rows[0]['QUERY PLAN'][0].Plan);
      return client.query(statement);
    },
  } as unknown as Pick<pg.Pool, 'query'>;
  const query = { list: 'referrals', states, filters: [], json: 'to_json(t.id)', joins: '' } as const;
  try {
    const { count } = await makeReadListPage(explaining, 'sandbox')(query, { page, limit: LIMIT });
    expect(count).toBe(LIMIT);
    return read;
  } finally {
    client.release();
  }
}

function countRows(plan: Plan): number {
  const { 'Actual Rows': rows = 0, 'Rows Removed by Filter': removed = 0, 'Actual Loops': loops = 0 } = plan;
  const own = plan['Relation Name'] === 'referrals' ? (rows + removed) * loops : 0;
  return own + (plan.Plans ?? []).reduce((sum, inner) => sum + countRows(inner), 0);
}

describe('A deep page', () => {
  it.each([
    ['of all referrals', [], REFERRALS],
    ['of those in one state', ['visitor'], REFERRALS * 0.66],
    ['of those in two states', ['visitor', 'lead'], REFERRALS * 0.8],
  ])(
    '%s reads a few pages of rows, as the first does, and not all before it',
    async (_which, states, total) => {
      const last = Math.floor(total / LIMIT);
      for (const page of [1, Math.ceil(last / 2), Math.floor(last * 0.9), last]) {
        expect(await rowsRead(page, states), `page ${page}`).toBeLessThan(20 * LIMIT);
      }
    },
  );
});

describe('Every page', () => {
  async function expectRightPages(query: string, condition: string): Promise<void> {
    const { rows } = await pool.query<{ id: string }>(
      `select id from small.referrals where ${condition} order by created_at desc, id desc`,
    );
    const expected = rows.map(({ id }) => id);
    const pages = Math.ceil(expected.length / 7);
    for (let page = 1; page <= pages + 1; page += 1) {
      const { data, pagination } = await small.referrals(`?${query}&limit=7&page=${page}`);
      expect(
        data.map(({ id }) => id),
        `page ${page}`,
      ).toEqual(expected.slice((page - 1) * 7, page * 7));
      expect(pagination.total_count).toBe(expected.length);
    }
  }
  let small: TestSandbox;
  beforeAll(async () => {
    small = await runSandbox(pool, { schema: 'small', spelling: 'live', affiliates: 10, referrals: 150 });
    return () => small.close();
  });

  it.each([
    ['', 'true'],
    ['conversion_state=visitor', "conversion_state = 'visitor'"],
    ['conversion_state[]=lead&conversion_state[]=conversion', "conversion_state in ('lead', 'conversion')"],
  ])(
    '%s begins where the one before ended, also after records came, changed and went',
    async (query, condition) => {
      await expectRightPages(query, condition);
      // Midnight belongs to the day that it begins, and days without any record lie between.
      for (const created_at of [
        '2020-02-29T00:00:00.000Z',
        '2020-02-28T23:59:59.999Z',
        '2020-02-28T00:00:00.000Z',
        '2030-01-01T00:00:00.000Z',
      ]) {
        await small.program.insertReferral({ created_at, conversion_state: 'lead' });
        await small.program.insertReferral({ created_at });
      }
      for (let step = 0; step < 60; step += 1) await small.live.step();
      const { rows } = await pool.query<{ id: string }>(
        'select id from small.referrals order by md5(id) limit 12',
      );
      for (const [index, { id }] of rows.entries()) {
        if (index < 6) await small.program.deleteReferral(id);
        else await small.program.updateReferral(id, { created_at: `2021-0${index - 5}-01T00:00:00.000Z` });
      }
      await expectRightPages(query, condition);
    },
  );

  it('of an emptied list is empty', async () => {
    await pool.query('delete from small.affiliates');
    const { data, pagination } = await small.referrals('?limit=7&page=2');
    expect(data).toEqual([]);
    expect(pagination).toMatchObject({ total_count: 0, total_pages: 0, previous_page: null });
    const { rows } = await pool.query(
      "select list, sum(records)::integer as records from small.list_days where list <> 'campaigns' group by 1",
    );
    expect(rows.map(({ records }) => records)).toEqual([0, 0, 0]);
  });
});
