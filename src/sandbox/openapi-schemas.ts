// The contract's resources and error bodies as JSON schemas, for openapi.ts.

type Schema = Readonly<Record<string, unknown>>;

const string = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const uuid = { type: 'string', format: 'uuid' };
const time = { type: 'string', format: 'date-time' };
const textOrNull = { type: ['string', 'null'] };
const timeOrNull = { type: ['string', 'null'], format: 'date-time' };
const pageOrNull = { type: ['integer', 'null'] };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const affiliateFields = {
  id: uuid,
  created_at: time,
  updated_at: time,
  first_name: string,
  last_name: string,
  email: string,
  payout_email: { ...string, description: 'May be an empty string.' },
  confirmed_at: timeOrNull,
  payout_email_confirmed_at: timeOrNull,
  receive_new_commission_notifications: boolean,
  sign_in_count: integer,
  unconfirmed_email: textOrNull,
  processor_customer_id: textOrNull,
  processor_account_id: textOrNull,
  visitors: integer,
  leads: integer,
  conversions: integer,
};

const referralFields = {
  id: uuid,
  processor_account_id: string,
  processor_customer_id: textOrNull,
  conversion_state: { ...string, description: 'An open set; lead, conversion and visitor are known.' },
  deactivated_at: timeOrNull,
  expires_at: timeOrNull,
  created_at: time,
  updated_at: time,
  customer: { anyOf: [ref('Customer'), { type: 'null' }] },
  visits: integer,
  link: { anyOf: [ref('Link'), { type: 'null' }] },
};

/** Every schema of the document, by the name that its routes refer to. */
export const OPENAPI_SCHEMAS = {
  Commission: object({
    id: uuid,
    created_at: time,
    updated_at: time,
    amount: integer,
    currency: string,
    due_at: { ...time, description: 'When the commission becomes payable to the affiliate.' },
    paid_at: { ...timeOrNull, description: 'Null while unpaid.' },
    campaign: ref('Campaign'),
    sale: ref('Sale'),
  }),
  Campaign: object({ id: uuid, created_at: time, updated_at: time, name: string }),
  Sale: object({
    id: uuid,
    currency: string,
    charged_at: time,
    processor_account_id: string,
    processor_charge_id: string,
    invoiced_at: timeOrNull,
    created_at: time,
    updated_at: time,
    charge_amount_cents: integer,
    refund_amount_cents: integer,
    tax_amount_cents: integer,
    sale_amount_cents: integer,
    referral: ref('Referral'),
    affiliate: ref('Affiliate'),
  }),
  Referral: object(referralFields),
  ReferralListItem: object(referralFields, { affiliate: ref('Affiliate') }),
  Customer: object({
    platform: { ...string, description: 'Lower-case name of the payment processor.' },
    id: string,
    name: string,
    email: string,
  }),
  Link: object({
    id: uuid,
    url: { type: 'string', format: 'uri' },
    token: string,
    visitors: integer,
    leads: integer,
    conversions: integer,
  }),
  Affiliate: object({ ...affiliateFields, campaign: ref('Campaign') }),
  AffiliateListItem: object(affiliateFields, {
    campaign: ref('Campaign'),
    links: { type: 'array', items: ref('Link') },
    commission_stats: ref('CommissionStats'),
  }),
  CommissionStats: object({
    currencies: {
      type: 'object',
      description: 'By currency code.',
      additionalProperties: object({
        unpaid: ref('Money'),
        due: ref('Money'),
        paid: ref('Money'),
        total: ref('Money'),
        gross_revenue: ref('Money'),
        net_revenue: ref('Money'),
      }),
    },
  }),
  Money: object({ cents: integer, currency_iso: string }),
  Pagination: object({
    previous_page: pageOrNull,
    current_page: integer,
    next_page: pageOrNull,
    count: { ...integer, description: 'Number of objects on this page.' },
    limit: { ...integer, description: 'Requested number of objects per page.' },
    total_pages: integer,
    total_count: { ...integer, description: 'Total number of objects across all pages.' },
  }),
  ReferralList: object({
    pagination: ref('Pagination'),
    data: { type: 'array', items: ref('ReferralListItem') },
  }),
  AffiliateList: object({
    pagination: ref('Pagination'),
    data: { type: 'array', items: ref('AffiliateListItem') },
  }),
  CommissionUpdate: {
    type: 'object',
    properties: {
      paid_at: { ...string, description: 'ISO 8601, any time; empty clears it and marks it unpaid.' },
      due_at: { ...string, description: 'ISO 8601, any time; must not be blank.' },
    },
  },
  Error: object({ error: string }),
  ValidationError: object({ error: string, details: { type: 'array', items: string } }),
} as const satisfies Record<string, Schema>;

// Unknown fields are allowed on purpose: a client must accept them.
function object(
  properties: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
) {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
  };
}
