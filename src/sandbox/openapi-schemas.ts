// The resources and error bodies as JSON schemas, as a sandbox of that style serves them, for openapi.ts.

import { type Field, type Fields, type FieldType, isValue } from '../contract/declare.ts';
import { RECORDS } from '../contract/records.ts';
import { STATS } from './lists.ts';
import { IN_PAYOUT, isSent, sentName, type WireStyle } from './wire.ts';

type Schema = Readonly<Record<string, unknown>>;

const string = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const uuid = { type: 'string', format: 'uuid' };
const timeOrNull = { type: ['string', 'null'], format: 'date-time' };
const pageOrNull = { type: ['integer', 'null'] };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const TYPES: Readonly<Record<FieldType, { type: string; format?: string }>> = {
  identifier: uuid,
  text: string,
  timestamp: { type: 'string', format: 'date-time' },
  integer,
  number: { type: 'number' },
  boolean,
  json: { type: 'object' },
};

/** Returns every schema of the document, by the name that its routes refer to. */
export function makeOpenapiSchemas(style: Omit<WireStyle, 'times'>) {
  const lists = style.optionalLists;
  const live = style.spelling === 'live';
  const mayBeNull = ({ presence }: Pick<Field, 'presence'>) =>
    ['or null', 'seen in the wild'].includes(presence) || (live && presence === 'null accepted');
  /** The schemas of nested records are given by name, and those of further fields that are objects. */
  const fieldsOf = (fields: Fields, given: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]): [string, Schema][] => {
        const nested = given[name];
        if (nested !== undefined) {
          return [[name, mayBeNull(field) ? { anyOf: [ref(nested), { type: 'null' }] } : ref(nested)]];
        }
        if (!isValue(field) || !isSent(style, fields, field)) return [];
        const { type, ...format } = TYPES[field.type];
        const types = mayBeNull(field) ? [type, 'null'] : type;
        return [[sentName(style, name, field), { type: types, ...format, description: field.meaning }]];
      }),
    );
  const { campaigns, affiliates, links, referrals, sales, commissions, payouts } = RECORDS;
  const referral = fieldsOf(referrals.fields, {
    customer: 'Customer',
    link: 'Link',
    ...(live ? { coupon: 'Coupon' } : {}),
  });
  const affiliate = fieldsOf(affiliates.fields);
  const commission = fieldsOf(commissions.fields);
  const payout = fieldsOf(payouts.fields);
  const ofPayout = {
    affiliate: ref('PayoutAffiliate'),
    commissions: { type: 'array', items: ref('PayoutCommission') },
  };
  const ofCommission = { campaign: ref('Campaign'), sale: ref('Sale') };

  return {
    Commission: object({ ...commission, ...ofCommission }),
    ...(lists.includes('commissions')
      ? {
          CommissionListItem: object(commission, ofCommission),
          CommissionList: list('CommissionListItem'),
        }
      : {}),
    ...(lists.includes('payouts')
      ? {
          Payout: object({ ...payout, ...ofPayout }),
          PayoutListItem: object(payout, ofPayout),
          PayoutList: list('PayoutListItem'),
          // Its account is declared as a field that is expanded.
          PayoutCommission: object({
            ...fieldsOf(IN_PAYOUT),
            [sentName(style, 'processor_account_id', commissions.fields.processor_account_id)]: string,
          }),
          PayoutAffiliate: object(affiliate),
        }
      : {}),
    ...(lists.includes('campaigns') ? { CampaignList: list('Campaign') } : {}),
    Campaign: object(fieldsOf(campaigns.fields)),
    Sale: object({ ...fieldsOf(sales.fields), referral: ref('Referral'), affiliate: ref('Affiliate') }),
    Referral: object(referral),
    ReferralListItem: object(referral, { affiliate: ref('Affiliate') }),
    ReferralList: list('ReferralListItem'),
    Customer: object(fieldsOf(referrals.fields.customer.fields)),
    Link: object(fieldsOf(links.fields)),
    ...(live
      ? {
          Coupon: object({
            id: uuid,
            token: string,
            external_id: string,
            archived: boolean,
            archived_at: timeOrNull,
            affiliate_id: uuid,
          }),
        }
      : {}),
    Affiliate: object({ ...affiliate, campaign: ref('Campaign') }),
    AffiliateListItem: object(affiliate, {
      campaign: ref('Campaign'),
      links: { type: 'array', items: ref('Link') },
      commission_stats: ref('CommissionStats'),
    }),
    AffiliateList: list('AffiliateListItem'),
    CommissionStats: object({
      currencies: {
        type: 'object',
        description: 'By currency code.',
        additionalProperties: object(Object.fromEntries(STATS.map((name) => [name, ref('Money')]))),
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
