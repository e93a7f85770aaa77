// The resources and error bodies as JSON schemas, as a sandbox of that style serves them, for openapi.ts.

import type { WireStyle } from './wire.ts';

type Schema = Readonly<Record<string, unknown>>;

const string = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const uuid = { type: 'string', format: 'uuid' };
const time = { type: 'string', format: 'date-time' };
const textOrNull = { type: ['string', 'null'] };
const timeOrNull = { type: ['string', 'null'], format: 'date-time' };
const pageOrNull = { type: ['integer', 'null'] };
const url = { type: 'string', format: 'uri' };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const orNull = (name: string) => ({ anyOf: [ref(name), { type: 'null' }] });

/** Returns every schema of the document, by the name that its routes refer to. */
export function makeOpenapiSchemas({ spelling, optionalLists }: Omit<WireStyle, 'times'>) {
  const live = spelling === 'live';
  const commissionList = optionalLists.includes('commissions');
  const processor = live ? 'stripe' : 'processor';
  const payout = live ? 'paypal' : 'payout';
  // One spelling of every field or the other, and of the further ones all or none.
  const spelled = <Name extends string, S>(name: Name, schema: S) => ({ [name]: schema }) as Record<Name, S>;
  const seenInTheWild = <S extends object>(fields: S): Partial<S> => (live ? fields : {});

  const affiliateFields = {
    id: uuid,
    created_at: time,
    updated_at: time,
    first_name: string,
    last_name: string,
    email: string,
    ...spelled(`${payout}_email`, {
      type: live ? textOrNull.type : string.type,
      description: 'May be an empty string.',
    }),
    confirmed_at: timeOrNull,
    ...spelled(`${payout}_email_confirmed_at`, timeOrNull),
    receive_new_commission_notifications: boolean,
    sign_in_count: integer,
    unconfirmed_email: textOrNull,
    ...spelled(`${processor}_customer_id`, textOrNull),
    ...spelled(`${processor}_account_id`, textOrNull),
    visitors: integer,
    leads: integer,
    conversions: integer,
    ...seenInTheWild({
      state: { ...string, description: 'An open set; active, disabled and suspicious are known.' },
      wise_email: textOrNull,
      wise_email_confirmed_at: timeOrNull,
    }),
  };
  const referralFields = {
    id: uuid,
    ...spelled(`${processor}_account_id`, string),
    ...spelled(`${processor}_customer_id`, textOrNull),
    conversion_state: { ...string, description: 'An open set; lead, conversion and visitor are known.' },
    deactivated_at: timeOrNull,
    expires_at: timeOrNull,
    created_at: time,
    updated_at: time,
    customer: orNull('Customer'),
    visits: integer,
    link: orNull('Link'),
    ...seenInTheWild({
      became_lead_at: timeOrNull,
      became_conversion_at: timeOrNull,
      coupon: orNull('Coupon'),
    }),
  };
  const commissionFields = {
    id: uuid,
    created_at: time,
    updated_at: time,
    amount: integer,
    currency: string,
    due_at: { ...time, description: 'When the commission becomes payable to the affiliate.' },
    paid_at: { ...timeOrNull, description: 'Null while unpaid.' },
    ...(live || commissionList
      ? {
          state: { ...string, description: 'An open set; pending, due, paid and voided are known.' },
          voided_at: timeOrNull,
        }
      : {}),
  };

  return {
    Commission: object({ ...commissionFields, campaign: ref('Campaign'), sale: ref('Sale') }),
    ...(commissionList
      ? {
          CommissionListItem: object(commissionFields, { campaign: ref('Campaign'), sale: ref('Sale') }),
          CommissionList: list('CommissionListItem'),
        }
      : {}),
    ...(optionalLists.includes('campaigns') ? { CampaignList: list('Campaign') } : {}),
    Campaign: object({
      id: uuid,
      created_at: time,
      updated_at: time,
      name: string,
      ...seenInTheWild({
        url,
        private: boolean,
        commission_percent: integer,
        days_until_commissions_are_due: integer,
      }),
    }),
    Sale: object({
      id: uuid,
      currency: string,
      charged_at: time,
      ...spelled(`${processor}_account_id`, string),
      ...spelled(`${processor}_charge_id`, string),
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
    ReferralList: list('ReferralListItem'),
    Customer: object({
      platform: { ...string, description: 'Lower-case name of the payment processor.' },
      id: string,
      name: string,
      email: string,
    }),
    Link: object({ id: uuid, url, token: string, visitors: integer, leads: integer, conversions: integer }),
    ...seenInTheWild({
      Coupon: object({
        id: uuid,
        token: string,
        external_id: string,
        archived: boolean,
        archived_at: timeOrNull,
        affiliate_id: uuid,
      }),
    }),
    Affiliate: object({ ...affiliateFields, campaign: ref('Campaign') }),
    AffiliateListItem: object(affiliateFields, {
      campaign: ref('Campaign'),
      links: { type: 'array', items: ref('Link') },
      commission_stats: ref('CommissionStats'),
    }),
    AffiliateList: list('AffiliateListItem'),
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
    CommissionUpdate: {
      type: 'object',
      properties: {
        paid_at: { ...string, description: 'ISO 8601, any time; empty clears it and marks it unpaid.' },
        due_at: { ...string, description: 'ISO 8601, any time; must not be blank.' },
      },
    },
    Error: object({ error: string }),
    ValidationError: object({ error: string, details: { type: 'array', items: string } }),
  };
}

function list(item: string) {
  return object({ pagination: ref('Pagination'), data: { type: 'array', items: ref(item) } });
}

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
