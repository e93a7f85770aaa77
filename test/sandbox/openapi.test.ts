// /openapi.json against the contract on one side and against what the sandbox answers on the other.

import { describe, expect, it } from 'vitest';
import { OPTIONAL_LISTS } from '../../src/contract/optional-lists.ts';
import { makeOpenapiDocument } from '../../src/sandbox/openapi.ts';
import { createTestDatabase } from '../support/database.ts';
import { AUTHORIZATION, fieldsOf, runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool);
const found = await pool.query<{ id: string }>('select id from sandbox.commissions limit 1');
const commissionId = found.rows[0]?.id ?? '';

interface Schema {
  readonly properties?: Readonly<Record<string, object>>;
}

const OPENAPI_DOCUMENT = makeOpenapiDocument({ spelling: 'neutral', optionalLists: [] });
/** Every document that the sandbox serves. */
const STYLES = (['neutral', 'live'] as const).flatMap((spelling) =>
  [[], OPTIONAL_LISTS].map((optionalLists) => ({ spelling, optionalLists })),
);

describe('/openapi.json', () => {
  it('is served without a secret, as JSON', async () => {
    const answer = await sandbox.send('GET', '/openapi.json', { headers: {} });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(JSON.parse(answer.text)).toEqual(OPENAPI_DOCUMENT);
    expect(OPENAPI_DOCUMENT.openapi).toMatch(/^3\.1\./);
  });

  it.each(STYLES)('refers to schemas that exist, and has no other: %o', (style) => {
    const document = makeOpenapiDocument(style);
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    expect(new Set(names.map(([, name]) => name))).toEqual(new Set(Object.keys(document.components.schemas)));
  });

  it.each(STYLES)('names exactly the fields that the sandbox answers: %o', async (style) => {
    const schema = style.spelling;
    const served = await runSandbox(pool, { schema, ...style });
    const document = (await served.get('/openapi.json')) as ReturnType<typeof makeOpenapiDocument>;
    expect(document).toEqual(makeOpenapiDocument(style));
    const schemas: Readonly<Record<string, Schema>> = document.components.schemas;
    for (const [name, path] of [
      ['ReferralListItem', '/v1/referrals?limit=1&expand=affiliate'],
      [
        'AffiliateListItem',
        '/v1/affiliates?limit=1&expand[]=campaign&expand[]=links&expand[]=commission_stats',
      ],
      ...(style.optionalLists.length > 0 ? [['Campaign', '/v1/campaigns?limit=1']] : []),
    ] as const) {
      const { data } = (await served.get(path ?? '')) as { data: object[] };
      expect(fieldsOf(data[0]), name).toEqual(fieldsOf(schemas[name ?? '']?.properties));
    }
    if (style.optionalLists.length > 0) {
      const { data } = (await served.get('/v1/payouts?expand[]=affiliate&expand[]=commissions')) as {
        data: { affiliate: object; commissions: object[] }[];
      };
      for (const [name, record] of [
        ['PayoutListItem', data[0]],
        ['PayoutAffiliate', data[0]?.affiliate],
        ['PayoutCommission', data[0]?.commissions[0]],
      ] as const) {
        expect(fieldsOf(record), name).toEqual(fieldsOf(schemas[name]?.properties));
      }
    }
    await served.close();
  });

  it('has the status of every error that a test can bring about', async () => {
    const json = { authorization: AUTHORIZATION, 'content-type': 'application/json' };
    const form = { authorization: AUTHORIZATION, 'content-type': 'application/x-www-form-urlencoded' };
    const path = `/v1/commissions/${commissionId}`;
    const { responses } = OPENAPI_DOCUMENT.paths['/v1/commissions/{id}'].put;
    for (const [status, answer] of [
      [401, await sandbox.send('GET', path, { headers: {} })],
      [404, await sandbox.send('GET', '/v1/commissions/none')],
      [413, await sandbox.send('PUT', path, { headers: form, body: 'x'.repeat(2 ** 20 + 1) })],
      [415, await sandbox.send('PUT', path, { headers: json, body: '{}' })],
      [422, await sandbox.send('PUT', path, { headers: form, body: 'due_at=' })],
    ] as const) {
      expect(answer.status, answer.text).toBe(status);
      expect(responses).toHaveProperty(String(status));
    }
  });
});
