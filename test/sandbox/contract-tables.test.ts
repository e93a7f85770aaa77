// That no answer departs from the tables of api-contract.md: every page of every list with each expansion, and every
// single commission, of a program as it was seeded and after much has happened in it.

import type pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { type Change, departuresFrom } from './contract-fields.ts';
import { runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
});

/** What each expansion adds to an item. */
const EXPANSIONS = {
  affiliates: { campaign: 'Campaign object', links: 'array of Link', commission_stats: 'object' },
  referrals: { affiliate: 'Affiliate object' },
  commissions: { campaign: 'Campaign object', sale: 'Sale object' },
} as const satisfies Record<string, Record<string, string>>;
const ITEMS = { affiliates: 'Affiliate', referrals: 'Referral', commissions: 'Commission' } as const;
/** What the contract's table has, but an item only by expansion. */
const UNEXPANDED: Readonly<Record<keyof typeof ITEMS, Change>> = {
  affiliates: { campaign: null },
  referrals: {},
  commissions: { campaign: null, sale: null },
};
/** Contract, A list of commissions: each item carries them besides. */
const LISTED: Change = { state: 'string', voided_at: 'string (ISO 8601) or null' };

function* choicesOf(names: readonly string[]): Generator<readonly string[]> {
  for (let choice = 0; choice < 2 ** names.length; choice += 1) {
    yield names.filter((_, place) => (choice & (1 << place)) !== 0);
  }
}

async function departuresOfList(sandbox: TestSandbox, list: keyof typeof ITEMS): Promise<string[]> {
  const expansions: Readonly<Record<string, string>> = EXPANSIONS[list];
  const departures: string[] = [];
  for (const chosen of choicesOf(Object.keys(expansions))) {
    const expanded = Object.fromEntries(chosen.map((name) => [name, expansions[name] ?? null]));
    const change = { ...UNEXPANDED[list], ...expanded, ...(list === 'commissions' ? LISTED : {}) };
    const query = chosen.map((name) => `&expand[]=${name}`).join('');
    for (let page: number | null = 1; page !== null; ) {
      const path = `/v1/${list}?limit=100&page=${page}${query}`;
      const body = (await sandbox.get(path)) as { pagination: { next_page: number | null }; data: unknown };
      departures.push(...departuresFrom('Pagination', body.pagination, path));
      departures.push(...departuresFrom(`array of ${ITEMS[list]}`, body.data, path, change));
      page = body.pagination.next_page;
    }
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
    ...(await departuresOfList(sandbox, 'affiliates')),
    ...(await departuresOfList(sandbox, 'referrals')),
    ...(await departuresOfCommissions(sandbox, 'sandbox')),
  ];
  expect(await read()).toEqual([]);
  for (let step = 0; step < 400; step += 1) await sandbox.live.step();
  const { rows } = await pool.query<{ id: string }>('select id from sandbox.commissions limit 1');
  const { body } = await sandbox.put(rows[0]?.id ?? '', 'paid_at=2026-05-04T03:02:01.987Z');
  expect(departuresFrom('Commission', body, 'PUT')).toEqual([]);
  expect(await read()).toEqual([]);
  await sandbox.close();
});

it('where commissions are listed, they carry `state` and `voided_at` besides, and no answer departs otherwise', async () => {
  const sandbox = await runSandbox(pool, { schema: 'listing', optionalLists: ['commissions'] });
  expect(await departuresOfList(sandbox, 'commissions')).toEqual([]);
  expect(await departuresOfCommissions(sandbox, 'listing', LISTED)).toEqual([]);
  await sandbox.close();
});

it('in the spelling live, names, fields, nulls and states depart as they were seen to', async () => {
  const sandbox = await runSandbox(pool, { schema: 'seen', spelling: 'live' });
  const departures = (await departuresOfList(sandbox, 'referrals')).join('\n');
  for (const seen of [
    'is a visitor',
    '.processor_account_id is missing',
    '.coupon is unknown',
    '.link is null, no object',
    '.expires_at is null, no string (ISO 8601)',
    '.customer is null, no object',
  ]) {
    expect(departures).toContain(seen);
  }
  await sandbox.close();
});
