// Records as the program sends them, one builder per resource; a test states only the fields that it is about. What is
// usual for a field is said here where tests rely on it; any other has a value of its type, or null where the contract
// allows it.

import { randomUUID } from 'node:crypto';
import {
  type Field,
  type Fields,
  type FieldType,
  isValue,
  type ValueOf,
} from '../../src/contract/declare.ts';
import { RECORDS } from '../../src/contract/records.ts';

const TIME = '2026-01-02T03:04:05.678901Z';

const USUAL: Readonly<Record<FieldType, unknown>> = {
  identifier: null,
  text: 'usual',
  timestamp: TIME,
  integer: 0,
  number: 0,
  boolean: true,
  json: {},
};

/** Returns the record's fields of the contract's own table, without nested records. */
export function usual<F extends Fields>(fields: F) {
  const own = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    if (!isValue(field) || field.presence === 'seen in the wild' || field.presence === 'expanded') return [];
    return [[name, field.presence === 'or null' ? null : USUAL[field.type]]];
  });
  return { ...(Object.fromEntries(own) as { [K in Sent<F>]: ValueOf<F[K]> }), id: randomUUID() };
}

type Sent<F extends Fields> = { [K in keyof F]: F[K] extends Field ? K : never }[keyof F];

export function buildCampaign(fields: object = {}) {
  return { ...usual(RECORDS.campaigns.fields), name: 'Friends', ...fields };
}

export function buildLink(fields: object = {}) {
  const counters = { visitors: 3, leads: 2, conversions: 1 };
  const where = { url: 'https://example.com/?via=ada', token: 'ada' };
  return { ...usual(RECORDS.links.fields), ...where, ...counters, ...fields };
}

export function buildAffiliate(fields: object = {}) {
  return {
    ...usual(RECORDS.affiliates.fields),
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@example.com',
    payout_email: '',
    payout_email_confirmed_at: null,
    sign_in_count: 4,
    visitors: 3,
    leads: 2,
    conversions: 1,
    campaign: buildCampaign(),
    ...fields,
  };
}

export function buildReferral(fields: object = {}) {
  return {
    ...usual(RECORDS.referrals.fields),
    processor_account_id: 'acct_1',
    processor_customer_id: 'cus_1',
    conversion_state: 'lead',
    expires_at: '2026-06-02T03:04:05Z',
    customer: { platform: 'stripe', id: 'cus_1', name: 'Grace', email: 'grace@example.com' },
    visits: 2,
    link: buildLink(),
    ...fields,
  };
}

export function buildSale(fields: object = {}) {
  return {
    ...usual(RECORDS.sales.fields),
    currency: 'USD',
    processor_account_id: 'acct_1',
    processor_charge_id: 'ch_1',
    charge_amount_cents: 1000,
    sale_amount_cents: 1000,
    referral: buildReferral(),
    affiliate: buildAffiliate(),
    ...fields,
  };
}

/** As a list shows it that expands both. */
export function buildPayout(fields: object = {}) {
  const { campaign: _, ...affiliate } = buildAffiliate();
  return {
    ...usual(RECORDS.payouts.fields),
    amount: 300,
    currency: 'USD',
    state: 'due',
    affiliate,
    commissions: [buildPaidOut()],
    ...fields,
  };
}

/** A commission as its payout shows it. */
export function buildPaidOut(fields: object = {}) {
  const money = { amount: 300, currency: 'USD', processor_account_id: 'acct_1' };
  return { ...usual(RECORDS.commissions.fields), ...money, ...fields };
}

export function buildCommission(fields: object = {}) {
  return {
    ...usual(RECORDS.commissions.fields),
    amount: 300,
    currency: 'USD',
    campaign: buildCampaign(),
    sale: buildSale(),
    ...fields,
  };
}
