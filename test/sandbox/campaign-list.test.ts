// GET /v1/campaigns (contract, Campaigns), where the sandbox is asked to serve it and where it is not.

import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { CAMPAIGN_FIELDS } from './contract-fields.ts';
import { fieldsOf, runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let sandbox: TestSandbox;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
  sandbox = await runSandbox(pool, { optionalLists: ['campaigns'] });
});
afterAll(() => sandbox.close());

interface CampaignList {
  readonly pagination: object;
  readonly data: readonly { readonly id: string }[];
}
const list = async (query = '') => (await sandbox.get(`/v1/campaigns${query}`)) as CampaignList;

describe('The list of campaigns', () => {
  it('"Where it is not served, the answer is 404", with no word of it in /openapi.json', async () => {
    const plain = await runSandbox(pool, { optionalLists: ['commissions'] });
    const answer = await plain.send('GET', '/v1/campaigns?limit=1');
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toEqual({ error: 'Route not found: GET /v1/campaigns?limit=1' });
    expect(JSON.stringify(await plain.get('/openapi.json'))).not.toMatch(/listCampaigns|CampaignList/);
    await plain.close();
  });

  it('shows every campaign once, newest first, with the envelope of the other lists', async () => {
    const { rows } = await pool.query('select id from sandbox.campaigns order by created_at desc, id desc');
    const { data, pagination } = await list();
    expect(data.map(({ id }) => ({ id }))).toEqual(rows);
    for (const campaign of data) expect(fieldsOf(campaign)).toEqual(CAMPAIGN_FIELDS);
    expect(pagination).toEqual({
      previous_page: null,
      current_page: 1,
      next_page: null,
      count: rows.length,
      limit: 25,
      total_pages: 1,
      total_count: rows.length,
    });
    expect((await list('?limit=1&page=2')).data).toEqual([data[1]]);
  });

  it('has one more at its head when one comes, and one less when it goes', async () => {
    const before = (await list()).data;
    const { id } = await sandbox.program.insertCampaign({ name: 'Nobody yet' });
    expect((await list()).data).toEqual([expect.objectContaining({ id, name: 'Nobody yet' }), ...before]);
    expect((await list()).pagination).toMatchObject({ total_count: before.length + 1 });
    await sandbox.program.deleteCampaign(id);
    expect((await list()).data).toEqual(before);
  });
});
