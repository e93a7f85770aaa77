// The sandbox as an OpenAPI 3.1 document: operations, parameters, answers and authentication, in its spelling.

import { MAXIMUM_LIMIT } from '../contract/answer-bodies.ts';
import { isOptional, LISTED_RESOURCES, type ListedResource, RESOURCES } from '../contract/resources.ts';
import { makeOpenapiSchemas } from './openapi-schemas.ts';
import { DEFAULT_LIMIT } from './query-parameters.ts';
import type { WireStyle } from './wire.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (description: string, name: string) => ({
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
  415: json('A body that is not form-encoded, or a request with a Content-Encoding.', 'Error'),
  429: {
    ...json('Too many requests (not part of the contract; seen in the wild).', 'Error'),
    headers: rateLimitHeaders,
  },
  default: json('Any other error; 5xx if the service fails.', 'Error'),
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

const inStates = (name: string, records: string) =>
  several(name, `Only ${records} currently in the given state or states.`, { type: 'string' });

const FILTERS = {
  affiliate_id: (records) => [filter('affiliate_id', `Only ${records} of that affiliate.`, uuid)],
  campaign_id: (records) => [filter('campaign_id', `Only ${records} of that campaign.`, uuid)],
  email: (records) => [filter('email', `Only ${records} with that email address.`)],
  stripe_customer_id: (records) => [
    filter('stripe_customer_id', `Only ${records} with that payment-processor customer identifier.`),
  ],
  conversion_state: (records) => inStates('conversion_state', records),
  state: (records) => inStates('state', records),
} satisfies Readonly<Record<string, (records: string) => readonly object[]>>;

const SEEN_IN_THE_WILD = 'Not part of the contract; seen in the wild.';

/** Returns the path of the list, and what is asked there. */
function listOf(resource: ListedResource): [path: string, item: { get: object }] {
  const { path, filters, expansions } = RESOURCES[resource];
  const Name = `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`;
  const get = {
    operationId: `list${Name}`,
    tags: [Name],
    summary: `List ${resource}, newest first`,
    description: isOptional(resource)
      ? SEEN_IN_THE_WILD
      : 'Filters combine; page and limit apply to the filtered list.',
    parameters: [
      ...filters.flatMap((name) => FILTERS[name](resource)),
      ...paging,
      ...(expansions.length > 0 ? expand(...expansions) : []),
    ],
    responses: {
      200: json(`One page of ${resource}.`, `${Name.slice(0, -1)}List`),
      ...everywhere,
    },
  };
  return [path, { get }];
}

const PAYOUT_ID = { name: 'id', in: 'path', required: true, description: 'Of the payout.', schema: uuid };

const PAYOUT_PATHS = {
  '/v1/payouts/{id}': {
    parameters: [PAYOUT_ID],
    get: {
      operationId: 'retrievePayout',
      tags: ['Payouts'],
      summary: 'Retrieve payout',
      description: SEEN_IN_THE_WILD,
      responses: {
        200: json('The payout with its affiliate and commissions.', 'Payout'),
        404: json('The payout does not exist.', 'Error'),
        ...everywhere,
      },
    },
  },
  '/v1/payouts/{id}/pay': {
    parameters: [PAYOUT_ID],
    put: {
      operationId: 'payPayout',
      tags: ['Payouts'],
      summary: 'Pay payout',
      description: SEEN_IN_THE_WILD,
      responses: {
        200: json('The payout, which is processing from now on.', 'Payout'),
        404: json('The payout does not exist.', 'Error'),
        422: json('The payout is not due.', 'ValidationError'),
        ...everywhere,
      },
    },
  },
};

/** Returns the document, served at /openapi.json. Source: contract, Endpoints, Authentication and Errors. */
export function makeOpenapiDocument(style: Omit<WireStyle, 'times'>) {
  const served = LISTED_RESOURCES.filter((one) => !isOptional(one) || style.optionalLists.includes(one));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Affiliate Program REST API',
      version: '1',
      description: 'Affiliates, referrals and commissions, as the sandbox of affiliate-mirror serves them.',
      contact: { name: 'affiliate-mirror' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/', description: 'This sandbox.' }],
    tags: [
      { name: 'Affiliates', description: 'People who refer customers.' },
      ...(served.includes('campaigns')
        ? [{ name: 'Campaigns', description: 'Campaigns that recruit affiliates.' }]
        : []),
      { name: 'Commissions', description: 'Earnings of affiliates from sales.' },
      ...(served.includes('payouts')
        ? [{ name: 'Payouts', description: 'Commissions of one affiliate that are paid together.' }]
        : []),
      { name: 'Referrals', description: 'Visitors, leads and customers whom affiliates brought.' },
    ],
    security: [{ secret: [] }],
    paths: {
      ...Object.fromEntries(served.map(listOf)),
      ...(served.includes('payouts') ? PAYOUT_PATHS : {}),
      '/v1/commissions/{id}': {
        parameters: [
          { name: 'id', in: 'path', required: true, description: 'Of the commission.', schema: uuid },
        ],
        get: {
          operationId: 'retrieveCommission',
          tags: ['Commissions'],
          summary: 'Retrieve commission',
          description: 'Returns one commission with its campaign and its sale.',
          responses: {
            200: json('The commission with its campaign and sale.', 'Commission'),
            404: json('The commission does not exist.', 'Error'),
            ...everywhere,
          },
        },
        put: {
          operationId: 'updateCommission',
          tags: ['Commissions'],
          summary: 'Update commission',
          description: 'A parameter that is not sent leaves the field unchanged.',
          requestBody: {
            description: 'Form-encoded; any other type of body is refused with 415.',
            content: { 'application/x-www-form-urlencoded': { schema: ref('CommissionUpdate') } },
          },
          responses: {
            200: json('The updated commission.', 'Commission'),
            404: json('The commission does not exist.', 'Error'),
            413: json('A body of more than a megabyte.', 'Error'),
            422: json('Invalid data.', 'ValidationError'),
            ...everywhere,
          },
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
      schemas: makeOpenapiSchemas(style),
    },
  };
}
