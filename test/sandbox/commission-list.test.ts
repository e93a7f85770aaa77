// GET /v1/commissions (contract, A list of commissions), where the sandbox is asked to serve it and where it is not.

import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool, { optionalLists: ['commissions'] });

async function idsInOrder(condition: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from sandbox.commissions where ${condition} order by created_at desc, id desc`,
  );
  return rows.map(({ id }) => id);
}
const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id);
const totalOf = async (query: string) => (await sandbox.commissions(`?${query}`)).pagination.total_count;

describe('The list of commissions', () => {
  it('shows every commission once, newest first, with `state` and `voided_at`', async () => {
    const items = await sandbox.allCommissions();
    expect(ids(items)).toEqual(await idsInOrder('true'));
    expect(items.length).toBeGreaterThan(100);
    for (const item of items) expect(item.voided_at !== null).toBe(item.state === 'voided');
  });

  it.each([
    ['state=due', ['due']],
    ['state[]=due&state[]=pending', ['due', 'pending']],
    ['state[0]=paid&state[1]=voided', ['paid', 'voided']],
    ['state=paid&state=voided', ['paid', 'voided']],
    ['state=lost', []],
  ])('state, "repeatable": %s', async (query, states) => {
    const expected = await idsInOrder(`state = any('{${states.join(',')}}')`);
    expect(ids(await sandbox.allCommissions(query))).toEqual(expected);
    expect(await totalOf(query)).toBe(expected.length);
  });

  it('expand[]=sale and expand[]=campaign: then each item is what its own address answers', async () => {
    const { data } = await sandbox.commissions('?limit=100&expand[]=sale&expand[]=campaign');
    for (const item of data) expect(item).toEqual(await sandbox.commission(item.id));
  });

  it('many payments at once, while the program lives, wait for each other and leave the totals right', async () => {
    const { data } = await sandbox.commissions('?limit=40&state=due');
    const statuses = await Promise.all([
      ...data.map(async ({ id }) => (await sandbox.put(id, 'paid_at=2026-05-04T00:00:00Z')).status),
      ...data.slice(0, 10).map(async () => (await sandbox.live.step()).kind),
      ...data.slice(30).map(async ({ id }) => sandbox.program.updateCommission(id, { state: 'paid' })),
    ]);
    expect(statuses.slice(0, 40)).toEqual(Array.from({ length: 40 }, () => 200));
    for (const state of ['pending', 'due', 'paid', 'voided']) {
      expect(await totalOf(`state=${state}`), state).toBe((await idsInOrder(`state = '${state}'`)).length);
    }
  });
});
