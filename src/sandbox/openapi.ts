// The contract as an OpenAPI 3.1 document: its four operations, their parameters, answers and authentication, in the
// neutral spelling.

import { OPENAPI_SCHEMAS } from './openapi-schemas.ts';
import { DEFAULT_LIMIT, MAXIMUM_LIMIT } from './query-parameters.ts';

const ref = (name: keyof typeof OPENAPI_SCHEMAS) => ({ $ref: `#/components/schemas/${name}` });
const json = (description: string, name: keyof typeof OPENAPI_SCHEMAS) => ({
  description,
  content: { 'application/json': { schema: ref(name) } },
});

const rateLimitHeaders = Object.fromEntries(
  [
    ['RateLimit-Limit', 'Requests that the window takes.'],
    ['RateLimit-Remaining', 'Requests left in the window.'],
    ['RateLimit-Reset', 'Seconds from now until a request is free again.'],
  ].map(([name, description]) => [name, { description, schema: { type: 'integer' } }]),
);
const everywhere = {
  401: json('Authorization missing or invalid.', 'Error'),
  429: {
    ...json('Too many requests (not part of the contract; seen in the wild).', 'Error'),
    headers: rateLimitHeaders,
  },
};

const filter = (name: string, description: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'query',
  description,
  schema,
});
// The array form carries brackets in its name, which OpenAPI can only write as a parameter of its own.
const several = (name: string, description: string, items: object) => [
  filter(name, description, items),
  { ...filter(`${name}[]`, description, { type: 'array', items }), style: 'form', explode: true },
];
const expand = (...values: string[]) =>
  several('expand', 'Objects to include in each item.', { type: 'string', enum: values });
const uuid = { type: 'string', format: 'uuid' };
const paging = [
  filter('page', 'Which page to fetch.', { type: 'integer', minimum: 1, default: 1 }),
  filter('limit', 'Results per page.', {
    type: 'integer',
    minimum: 1,
    maximum: MAXIMUM_LIMIT,
    default: DEFAULT_LIMIT,
  }),
];

/** The document, served at /openapi.json. Source: contract, Endpoints, Authentication and Errors. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Affiliate Program REST API',
    version: '1',
    description: 'Affiliates, referrals and commissions, as the sandbox of affiliate-mirror serves them.',
  },
  security: [{ secret: [] }],
  paths: {
    '/v1/commissions/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: uuid }],
      get: {
        operationId: 'retrieveCommission',
        summary: 'Retrieve commission',
        responses: {
          200: json('The commission with its campaign and sale.', 'Commission'),
          404: json('The commission does not exist.', 'Error'),
          ...everywhere,
        },
      },
      put: {
        operationId: 'updateCommission',
        summary: 'Update commission',
        description: 'A parameter that is not sent leaves the field unchanged.',
        requestBody: {
          content: { 'application/x-www-form-urlencoded': { schema: ref('CommissionUpdate') } },
        },
        responses: {
          200: json('The updated commission.', 'Commission'),
          404: json('The commission does not exist.', 'Error'),
          422: json('Invalid data.', 'ValidationError'),
          ...everywhere,
        },
      },
    },
    '/v1/referrals': {
      get: {
        operationId: 'listReferrals',
        summary: 'List referrals, newest first',
        parameters: [
          filter('affiliate_id', 'Only referrals of that affiliate.', uuid),
          ...several('conversion_state', 'Only referrals currently in the given state or states.', {
            type: 'string',
          }),
          filter('email', 'Only referrals with that email address.'),
          filter('stripe_customer_id', 'Only referrals with that payment-processor customer identifier.'),
          ...paging,
          ...expand('affiliate'),
        ],
        responses: { 200: json('One page of referrals.', 'ReferralList'), ...everywhere },
      },
    },
    '/v1/affiliates': {
      get: {
        operationId: 'listAffiliates',
        summary: 'List affiliates, newest first',
        parameters: [
          filter('campaign_id', 'Only affiliates of that campaign.', uuid),
          filter('email', 'Only the affiliate with that email address.'),
          filter('stripe_customer_id', 'Only the affiliate with that payment-processor customer identifier.'),
          ...paging,
          ...expand('campaign', 'links', 'commission_stats'),
        ],
        responses: { 200: json('One page of affiliates.', 'AffiliateList'), ...everywhere },
      },
    },
  },
  components: {
    securitySchemes: {
      secret: {
        type: 'http',
        scheme: 'basic',
        description: 'The API secret as user name; the password empty or omitted.',
      },
    },
    schemas: OPENAPI_SCHEMAS,
  },
} as const;
