// That no answer departs from the tables of api-contract.md: every page of every list with each expansion, and every
// single commission, of a program as it was seeded and after much has happened in it.

import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { type Change, departuresFrom } from './contract-fields.ts';
import { runSandbox, type TestSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();

/** Each list, the type of its items, and what its expansions add to them. */
const LISTS = [
  ['affiliates', '', 'Affiliate', { campaign: null }],
  [
    'affiliates',
    '&expand[]=campaign&expand[]=links&expand[]=commission_stats',
    'Affiliate',
    { campaign: 'Campaign object', links: 'array of Link', commission_stats: 'object' },
  ],
  ['referrals', '', 'Referral', {}],
  ['referrals', '&expand=affiliate', 'Referral', { affiliate: 'Affiliate object' }],
] as const satisfies readonly [string, string, string, Change][];
/** Contract, A list of commissions: each item carries them besides. */
const LISTED: Change = { state: 'string', voided_at: 'string (ISO 8601) or null' };

async function departuresOfList(
  sandbox: TestSandbox,
  [list, expansions, type, change]: readonly [string, string, string, Change],
): Promise<string[]> {
  const departures: string[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const path = `/v1/${list}?limit=100&page=${page}${expansions}`;
    const body = (await sandbox.get(path)) as { pagination: { next_page: number | null }; data: unknown };
    departures.push(...departuresFrom('Pagination', body.pagination, path));
    departures.push(...departuresFrom(`array of ${type}`, body.data, path, change));
    page = body.pagination.next_page;
  }
  return departures;
}

async function departuresOfCommissions(sandbox: TestSandbox, schema: string, change: Change = {}) {
  const { rows } = await pool.query<{ id: string }>(`select id from ${schema}.commissions`);
  expect(rows.length).toBeGreaterThan(100);
  const departures: string[] = [];
  for (const { id } of rows) {
    departures.push(...departuresFrom('Commission', await sandbox.get(`/v1/commissions/${id}`), id, change));
  }
  return departures;
}

it('in the default spelling no answer departs from the tables, whatever has happened in the program', async () => {
  const sandbox = await runSandbox(pool);
  const read = async () => [
    ...(await Promise.all(LISTS.map((list) => departuresOfList(sandbox, list)))).flat(),
    ...(await departuresOfCommissions(sandbox, 'sandbox')),
  ];
  expect(await read()).toEqual([]);
  for (let step = 0; step < 400; step += 1) await sandbox.live.step();
  const { rows } = await pool.query<{ id: string }>('select id from sandbox.commissions limit 1');
  const { body } = await sandbox.put(rows[0]?.id ?? '', 'paid_at=2026-05-04T03:02:01.987Z');
  expect(departuresFrom('Commission', body, 'PUT')).toEqual([]);
  expect(await read()).toEqual([]);
});

it('where commissions are listed, they carry `state` and `voided_at` besides, and no answer departs otherwise', async () => {
  const sandbox = await runSandbox(pool, { schema: 'listing', optionalLists: ['commissions', 'payouts'] });
  const unexpanded = { campaign: null, sale: null, ...LISTED };
  expect(await departuresOfList(sandbox, ['commissions', '', 'Commission', unexpanded])).toEqual([]);
  expect(await departuresOfCommissions(sandbox, 'listing', LISTED)).toEqual([]);
  const expanded = { affiliate: 'object', commissions: 'array of object' };
  const both = '&expand[]=affiliate&expand[]=commissions';
  expect(await departuresOfList(sandbox, ['payouts', '', 'Payout', {}])).toEqual([]);
  expect(await departuresOfList(sandbox, ['payouts', both, 'Payout', expanded])).toEqual([]);
});
