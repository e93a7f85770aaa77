// /openapi.json against the contract on one side and against what the sandbox answers on the other.

import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPTIONAL_LISTS } from '../../src/config/optional-lists.ts';
import { RESOURCES } from '../../src/contract/resources.ts';
import { makeOpenapiDocument } from '../../src/sandbox/openapi.ts';
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
import { AUTHORIZATION, runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let sandbox: TestSandbox;
let commissionId: string;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
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

const OPENAPI_DOCUMENT = makeOpenapiDocument({ spelling: 'neutral', optionalLists: [] });
const SCHEMAS: Readonly<Record<string, Schema>> = OPENAPI_DOCUMENT.components.schemas;
/** Every document that the sandbox serves. */
const STYLES = (['neutral', 'live'] as const).flatMap((spelling) =>
  [[], OPTIONAL_LISTS].map((optionalLists) => ({ spelling, optionalLists })),
);

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: object;
  }[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: object }>>;
}

function operationsOf(document: ReturnType<typeof makeOpenapiDocument>): [name: string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as unknown as Record<string, Operation>)
      .filter(([key]) => key !== 'parameters')
      .map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
  );
}

/** Every place where the value is not what the schema says, a field that it does not name included. */
function mismatches(value: unknown, schema: Schema, path: string, schemas = SCHEMAS): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const target = schemas[name];
    return target === undefined ? [`${path}: no schema ${name}`] : mismatches(value, target, path, schemas);
  }
  if (schema.anyOf !== undefined) {
    const tries = schema.anyOf.map((option) => mismatches(value, option, path, schemas));
    return tries.find((found) => found.length === 0) ?? tries.flat();
  }
  const types = [schema.type ?? []].flat();
  const isInteger = types.includes('number') && Number.isInteger(value);
  if (!isInteger && !types.includes(typeOf(value)))
    return [`${path}: ${typeOf(value)} is not ${types.join(' or ')}`];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => mismatches(item, schema.items ?? {}, `${path}[${index}]`, schemas));
  }
  if (typeof value !== 'object' || value === null) return [];
  const missing = (schema.required ?? []).filter((name) => !(name in value));
  return [
    ...missing.map((name) => `${path}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const known = schema.properties?.[name] ?? schema.additionalProperties;
      return known === undefined
        ? [`${path}.${name} is unknown`]
        : mismatches(inner, known, `${path}.${name}`, schemas);
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

  it('has the four operations of the contract, and the optional lists where they are served', () => {
    const contract = [
      'GET /v1/commissions/{id}',
      'PUT /v1/commissions/{id}',
      'GET /v1/referrals',
      'GET /v1/affiliates',
    ];
    for (const style of STYLES) {
      const names = operationsOf(makeOpenapiDocument(style)).map(([name]) => name);
      const beyond = style.optionalLists.map((list) => `GET /v1/${list}`);
      expect(names.toSorted()).toEqual([...beyond, ...contract].toSorted());
    }
  });

  it.each(STYLES)('names itself, its server and its tags, and describes every operation: %o', (style) => {
    const document = makeOpenapiDocument(style);
    expect(document.info).toMatchObject({ contact: { name: 'affiliate-mirror' }, license: { name: 'MIT' } });
    expect(document.servers).toEqual([{ url: '/', description: expect.any(String) }]);
    const tags = document.tags.map(({ name }) => name);
    const operations = operationsOf(document);
    for (const [name, operation] of operations) {
      expect(tags, name).toEqual(expect.arrayContaining([...operation.tags]));
      expect(operation.tags, name).toHaveLength(1);
      for (const text of [operation.operationId, operation.summary, operation.description]) {
        expect(text, name).toMatch(/\w/);
      }
      expect(Object.keys(operation.responses), name).toEqual(
        expect.arrayContaining(['200', '401', '415', '429', 'default']),
      );
      for (const { description, content } of Object.values(operation.responses)) {
        expect(description, name).toMatch(/\.$/);
        expect(Object.keys(content), name).toEqual(['application/json']);
      }
      for (const parameter of operation.parameters ?? []) expect(parameter.description, name).toMatch(/\w/);
    }
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(operations.length);
    expect(new Set(operations.flatMap(([, operation]) => operation.tags))).toEqual(new Set(tags));
  });

  it.each(['affiliates', 'referrals'] as const)(
    'has every parameter of the list of %s, with its expansions',
    (name) => {
      const [, operation] = operationsOf(OPENAPI_DOCUMENT).find(([of]) => of === `GET /v1/${name}`) ?? [];
      const parameters = operation?.parameters ?? [];
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
    const errors = ['401', '415', '429', 'default'];
    expect(Object.keys(get.responses).sort()).toEqual(['200', '404', ...errors].sort());
    expect(Object.keys(put.responses).sort()).toEqual(['200', '404', '413', '422', ...errors].sort());
    expect(Object.keys(put.requestBody.content)).toEqual(['application/x-www-form-urlencoded']);
    expect(OPENAPI_DOCUMENT.components.securitySchemes.secret).toMatchObject({
      type: 'http',
      scheme: 'basic',
    });
  });

  it.each(STYLES)('refers to schemas that exist, and has no other: %o', (style) => {
    const document = makeOpenapiDocument(style);
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    expect(new Set(names.map(([, name]) => name))).toEqual(new Set(Object.keys(document.components.schemas)));
  });

  it.each(STYLES)('describes exactly what the sandbox answers: %o', async (style) => {
    const schema = style.spelling;
    const served = await runSandbox(pool, { schema, ...style });
    const found = await pool.query<{ id: string }>(`select id from ${schema}.commissions limit 1`);
    const document = (await served.get('/openapi.json')) as ReturnType<typeof makeOpenapiDocument>;
    expect(document).toEqual(makeOpenapiDocument(style));
    const schemas: Readonly<Record<string, Schema>> = document.components.schemas;
    const answers = [
      ['ReferralList', '/v1/referrals?limit=100'],
      ['ReferralList', '/v1/referrals?limit=100&expand=affiliate'],
      ['AffiliateList', '/v1/affiliates?limit=100'],
      [
        'AffiliateList',
        '/v1/affiliates?limit=100&expand[]=campaign&expand[]=links&expand[]=commission_stats',
      ],
      ['Commission', `/v1/commissions/${found.rows[0]?.id}`],
    ];
    const lists = [
      ['CampaignList', '/v1/campaigns?limit=100'],
      ['CommissionList', '/v1/commissions?limit=100'],
      ['CommissionList', '/v1/commissions?limit=100&expand[]=campaign&expand[]=sale'],
    ];
    for (const [name = '', path = ''] of [...answers, ...(style.optionalLists.length > 0 ? lists : [])]) {
      expect(mismatches(await served.get(path), schemas[name] ?? {}, name, schemas)).toEqual([]);
    }
    await served.close();
  });

  it('describes the body of every error that a test can bring about', async () => {
    const encoded = { authorization: AUTHORIZATION, 'content-encoding': 'gzip' };
    const json = { authorization: AUTHORIZATION, 'content-type': 'application/json' };
    const form = { authorization: AUTHORIZATION, 'content-type': 'application/x-www-form-urlencoded' };
    const path = `/v1/commissions/${commissionId}`;
    const brought = [
      [401, await sandbox.send('GET', path, { headers: {} })],
      [404, await sandbox.send('GET', '/v1/commissions/none')],
      [413, await sandbox.send('PUT', path, { headers: form, body: 'x'.repeat(2 ** 20 + 1) })],
      [415, await sandbox.send('PUT', path, { headers: json, body: '{}' })],
      [415, await sandbox.send('PUT', path, { headers: { ...form, ...encoded }, body: 'due_at=' })],
      [415, await sandbox.send('GET', path, { headers: encoded })],
      [422, await sandbox.send('PUT', path, { headers: form, body: 'due_at=' })],
    ] as const;
    const { responses } = OPENAPI_DOCUMENT.paths['/v1/commissions/{id}'].put;
    for (const [status, answer] of brought) {
      expect(answer.status, answer.text).toBe(status);
      const { $ref } = responses[status].content['application/json'].schema;
      expect(mismatches(JSON.parse(answer.text), { $ref }, `${status}`)).toEqual([]);
    }
  });
});
