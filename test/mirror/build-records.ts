// Records as the program sends them, one builder per resource; a test states only the fields that it is about.

import { randomUUID } from 'node:crypto';

const TIME = '2026-01-02T03:04:05.678901Z';
const base = () => ({ id: randomUUID(), created_at: TIME, updated_at: TIME });

export function buildCampaign(fields: object = {}) {
  return { ...base(), name: 'Friends', ...fields };
}

export function buildLink(fields: object = {}) {
  const counters = { visitors: 3, leads: 2, conversions: 1 };
  return { id: randomUUID(), url: 'https://example.com/?via=ada', token: 'ada', ...counters, ...fields };
}

export function buildAffiliate(fields: object = {}) {
  return {
    ...base(),
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@example.com',
    payout_email: '',
    confirmed_at: TIME,
    payout_email_confirmed_at: null,
    receive_new_commission_notifications: true,
    sign_in_count: 4,
    unconfirmed_email: null,
    processor_customer_id: null,
    processor_account_id: null,
    visitors: 3,
    leads: 2,
    conversions: 1,
    campaign: buildCampaign(),
    ...fields,
  };
}

export function buildReferral(fields: object = {}) {
  return {
    ...base(),
    processor_account_id: 'acct_1',
    processor_customer_id: 'cus_1',
    conversion_state: 'lead',
    deactivated_at: null,
    expires_at: '2026-06-02T03:04:05Z',
    customer: { platform: 'stripe', id: 'cus_1', name: 'Grace', email: 'grace@example.com' },
    visits: 2,
    link: buildLink(),
    ...fields,
  };
}

export function buildSale(fields: object = {}) {
  return {
    ...base(),
    currency: 'USD',
    charged_at: TIME,
    processor_account_id: 'acct_1',
    processor_charge_id: 'ch_1',
    invoiced_at: TIME,
    charge_amount_cents: 1000,
    refund_amount_cents: 0,
    tax_amount_cents: 0,
    sale_amount_cents: 1000,
    referral: buildReferral(),
    affiliate: buildAffiliate(),
    ...fields,
  };
}

export function buildCommission(fields: object = {}) {
  return {
    ...base(),
    amount: 300,
    currency: 'USD',
    due_at: TIME,
    paid_at: null,
    campaign: buildCampaign(),
    sale: buildSale(),
    ...fields,
  };
}
