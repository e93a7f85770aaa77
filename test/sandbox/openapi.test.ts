// /openapi.json against the contract on one side and against what the sandbox answers on the other.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/contract/resources.ts';
import { OPENAPI_DOCUMENT } from '../../src/sandbox/openapi.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  AFFILIATE_FIELDS,
  CAMPAIGN_FIELDS,
  COMMISSION_FIELDS,
  CUSTOMER_FIELDS,
  LINK_FIELDS,
  REFERRAL_FIELDS,
  SALE_FIELDS,
} from './contract-fields.ts';
import { runSandbox, type TestSandbox } from './running-sandbox.ts';

let sandbox: TestSandbox;
let commissionId: string;

beforeAll(async () => {
  const { pool } = await createTestDatabase();
  sandbox = await runSandbox(pool);
  const found = await pool.query<{ id: string }>('select id from sandbox.commissions limit 1');
  commissionId = found.rows[0]?.id ?? '';
});
afterAll(() => sandbox.close());

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

const SCHEMAS: Readonly<Record<string, Schema>> = OPENAPI_DOCUMENT.components.schemas;

/** Every place where the value is not what the schema says, a field that it does not name included. */
function mismatches(value: unknown, schema: Schema, path: string): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const target = SCHEMAS[name];
    return target === undefined ? [`${path}: no schema ${name}`] : mismatches(value, target, path);
  }
  if (schema.anyOf !== undefined) {
    const tries = schema.anyOf.map((option) => mismatches(value, option, path));
    return tries.find((found) => found.length === 0) ?? tries.flat();
  }
  const types = [schema.type ?? []].flat();
  if (!types.includes(typeOf(value))) return [`${path}: ${typeOf(value)} is not ${types.join(' or ')}`];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => mismatches(item, schema.items ?? {}, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const missing = (schema.required ?? []).filter((name) => !(name in value));
  return [
    ...missing.map((name) => `${path}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const known = schema.properties?.[name] ?? schema.additionalProperties;
      return known === undefined
        ? [`${path}.${name} is unknown`]
        : mismatches(inner, known, `${path}.${name}`);
    }),
  ];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

describe('/openapi.json', () => {
  it('is served without a secret, as JSON', async () => {
    const answer = await sandbox.send('GET', '/openapi.json', { headers: {} });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(JSON.parse(answer.text)).toEqual(OPENAPI_DOCUMENT);
    expect(OPENAPI_DOCUMENT.openapi).toMatch(/^3\.1\./);
  });

  it('has the four operations of the contract and no other', () => {
    const operations = Object.entries(OPENAPI_DOCUMENT.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((key) => key !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations).toEqual([
      'GET /v1/commissions/{id}',
      'PUT /v1/commissions/{id}',
      'GET /v1/referrals',
      'GET /v1/affiliates',
    ]);
  });

  it.each(['affiliates', 'referrals'] as const)(
    'has every parameter of the list of %s, with its expansions',
    (name) => {
      const { parameters } = OPENAPI_DOCUMENT.paths[`/v1/${name}`].get;
      const names = parameters.map((parameter) => parameter.name).filter((each) => !each.endsWith('[]'));
      expect(names.sort()).toEqual([...RESOURCES[name].filters, 'page', 'limit', 'expand'].sort());
      const arrays = parameters.map((parameter) => parameter.name).filter((each) => each.endsWith('[]'));
      const several = name === 'referrals' ? ['conversion_state[]', 'expand[]'] : ['expand[]'];
      expect(arrays).toEqual(several);
      const expand = parameters.find((parameter) => parameter.name === 'expand');
      expect(expand?.schema).toEqual({ type: 'string', enum: RESOURCES[name].expansions });
      const limit = parameters.find((parameter) => parameter.name === 'limit');
      expect(limit?.schema).toMatchObject({ default: 25, maximum: 100 });
    },
  );

  it('has every field of every resource of the contract', () => {
    const fields = (name: string) => Object.keys(SCHEMAS[name]?.properties ?? {}).sort();
    expect(fields('Commission')).toEqual(COMMISSION_FIELDS);
    expect(fields('Campaign')).toEqual(CAMPAIGN_FIELDS);
    expect(fields('Sale')).toEqual(SALE_FIELDS);
    expect(fields('Referral')).toEqual(REFERRAL_FIELDS);
    expect(fields('Customer')).toEqual(CUSTOMER_FIELDS);
    expect(fields('Link')).toEqual(LINK_FIELDS);
    expect(fields('Affiliate')).toEqual([...AFFILIATE_FIELDS, 'campaign'].sort());
  });

  it('has the statuses of the contract, HTTP Basic, and a form-encoded body', () => {
    const { get, put } = OPENAPI_DOCUMENT.paths['/v1/commissions/{id}'];
    expect(Object.keys(get.responses)).toEqual(['200', '401', '404', '429']);
    expect(Object.keys(put.responses)).toEqual(['200', '401', '404', '422', '429']);
    expect(Object.keys(put.requestBody.content)).toEqual(['application/x-www-form-urlencoded']);
    expect(OPENAPI_DOCUMENT.components.securitySchemes.secret).toMatchObject({
      type: 'http',
      scheme: 'basic',
    });
  });

  it('refers to schemas that exist', () => {
    const names = [...JSON.stringify(OPENAPI_DOCUMENT).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    expect(names.length).toBeGreaterThan(20);
    for (const [, name] of names) expect(Object.keys(SCHEMAS)).toContain(name);
  });

  it('describes exactly what the sandbox answers', async () => {
    const answers = [
      ['ReferralList', '/v1/referrals?limit=100'],
      ['ReferralList', '/v1/referrals?limit=100&expand=affiliate'],
      ['AffiliateList', '/v1/affiliates?limit=100'],
      [
        'AffiliateList',
        '/v1/affiliates?limit=100&expand[]=campaign&expand[]=links&expand[]=commission_stats',
      ],
      ['Commission', `/v1/commissions/${commissionId}`],
    ] as const;
    for (const [name, path] of answers) {
      expect(mismatches(await sandbox.get(path), SCHEMAS[name] ?? {}, name)).toEqual([]);
    }
    const invalid = await sandbox.put(commissionId, 'due_at=');
    expect(mismatches(invalid.body, SCHEMAS['ValidationError'] ?? {}, 'ValidationError')).toEqual([]);
    const missing = await sandbox.put('none', '');
    expect(mismatches(missing.body, SCHEMAS['Error'] ?? {}, 'Error')).toEqual([]);
  });
});
