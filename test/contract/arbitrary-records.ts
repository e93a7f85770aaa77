// Arbitrary records of every resource, as the contract allows them: every nullable field null at times, every
// field that may be absent absent at times, and fields that the contract does not know.

import fc, { type Arbitrary } from 'fast-check';
import { WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';

type Fields = Record<string, Arbitrary<unknown>>;
export type WireRecord = Record<string, unknown>;

/** The names that a field unknown to the contract cannot have: then it would be known, or another one's spelling. */
const KNOWN = new Set([
  ...[...WIRE_ALIASES].flat(),
  ...[
    'id',
    'created_at',
    'updated_at',
    'name',
    'url',
    'token',
    'visitors',
    'leads',
    'conversions',
    'platform',
  ],
  ...['email', 'first_name', 'last_name', 'confirmed_at', 'receive_new_commission_notifications', 'state'],
  ...[
    'sign_in_count',
    'unconfirmed_email',
    'campaign',
    'links',
    'commission_stats',
    'conversion_state',
    'visits',
  ],
  ...[
    'deactivated_at',
    'expires_at',
    'customer',
    'link',
    'affiliate',
    'currency',
    'charged_at',
    'invoiced_at',
  ],
  ...[
    'charge_amount_cents',
    'refund_amount_cents',
    'tax_amount_cents',
    'sale_amount_cents',
    'referral',
    'sale',
  ],
  ...['amount', 'due_at', 'paid_at', 'voided_at'],
  ...[
    'private',
    'commission_percent',
    'days_until_commissions_are_due',
    'wise_email',
    'wise_email_confirmed_at',
  ],
  ...['became_lead_at', 'became_conversion_at', 'coupon'],
  // Never a field of a record: it is what every JavaScript object has of its own.
  '__proto__',
]);

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const integer = fc.maxSafeInteger();
const guid = fc.uuid();
const timestamp = fc
  .tuple(
    fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    }),
    fc.constantFrom(null, '', '.5', '.123456'),
    fc.constantFrom('Z', '+00:00', '-08:00', '+05:45', '+0000', '-0930', '+02'),
  )
  .map(([date, fraction, zone]) => {
    const day = date.toISOString();
    return fraction === null ? `${day.slice(0, 16)}${zone}` : `${day.slice(0, 19)}${fraction}${zone}`;
  });
const orNull = (value: Arbitrary<unknown>) => fc.option(value, { nil: null, freq: 4 });

const unknownFields = fc.dictionary(
  fc.oneof(fc.stringMatching(/^[a-z_]{1,12}$/), text).filter((name) => !KNOWN.has(name)),
  fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value))),
  { maxKeys: 2, noNullPrototype: true },
);

function record(required: Fields, carried: Fields): Arbitrary<WireRecord> {
  const known = fc.record(
    { ...required, ...carried },
    {
      requiredKeys: Object.keys(required),
      noNullPrototype: true,
    },
  );
  return fc.tuple(known, unknownFields).map(([fields, unknown]) => ({ ...unknown, ...fields }));
}

const identity = { id: guid, created_at: timestamp, updated_at: timestamp };

export const campaigns = record(identity, {
  name: text,
  url: orNull(fc.webUrl()),
  private: orNull(fc.boolean()),
  commission_percent: orNull(fc.double({ min: 0, max: 100, noNaN: true }).map((share) => share || 0)),
  days_until_commissions_are_due: orNull(integer),
});

export const links = record(
  { id: guid },
  { url: fc.webUrl(), token: text, visitors: integer, leads: integer, conversions: integer },
);

const money = record({}, { cents: integer, currency_iso: text });
const PLAIN = { maxKeys: 2, noNullPrototype: true };
const commissionStats = fc.record(
  {
    currencies: fc.dictionary(fc.constantFrom('USD', 'EUR', 'JPY'), fc.dictionary(text, money, PLAIN), PLAIN),
  },
  { noNullPrototype: true },
);

export const affiliates = record(identity, {
  first_name: orNull(text),
  last_name: orNull(text),
  email: text,
  payout_email: orNull(text),
  confirmed_at: orNull(timestamp),
  payout_email_confirmed_at: orNull(timestamp),
  receive_new_commission_notifications: fc.boolean(),
  sign_in_count: integer,
  unconfirmed_email: orNull(text),
  processor_customer_id: orNull(text),
  processor_account_id: orNull(text),
  visitors: integer,
  leads: integer,
  conversions: integer,
  state: orNull(text),
  wise_email: orNull(text),
  wise_email_confirmed_at: orNull(timestamp),
  campaign: orNull(campaigns),
  links: fc.array(links, { maxLength: 3 }),
  commission_stats: orNull(commissionStats),
});

const customers = record(
  {},
  { platform: orNull(text), id: orNull(text), name: orNull(text), email: orNull(text) },
);

const coupons = fc.record(
  {
    id: guid,
    token: text,
    external_id: orNull(text),
    archived: fc.boolean(),
    archived_at: orNull(timestamp),
  },
  { requiredKeys: ['id'], noNullPrototype: true },
);

export const referrals = record(identity, {
  processor_account_id: orNull(text),
  processor_customer_id: orNull(text),
  conversion_state: text,
  deactivated_at: orNull(timestamp),
  expires_at: orNull(timestamp),
  customer: orNull(customers),
  visits: integer,
  link: orNull(links),
  became_lead_at: orNull(timestamp),
  became_conversion_at: orNull(timestamp),
  coupon: orNull(coupons),
  affiliate: orNull(affiliates),
});

export const sales = record(identity, {
  currency: text,
  charged_at: orNull(timestamp),
  processor_account_id: orNull(text),
  processor_charge_id: orNull(text),
  invoiced_at: orNull(timestamp),
  charge_amount_cents: integer,
  refund_amount_cents: integer,
  tax_amount_cents: integer,
  sale_amount_cents: integer,
  referral: orNull(referrals),
  affiliate: orNull(affiliates),
});

export const commissions = record(
  { ...identity, amount: integer, currency: text, paid_at: orNull(timestamp) },
  {
    due_at: orNull(timestamp),
    state: orNull(text),
    voided_at: orNull(timestamp),
    campaign: orNull(campaigns),
    sale: orNull(sales),
  },
);

const LIVE_SPELLING = new Map([...WIRE_ALIASES].map(([live, neutral]) => [neutral, live]));

/** Returns the record as a live deployment spells it, with everything nested in it. */
export function inLiveSpelling(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inLiveSpelling);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [LIVE_SPELLING.get(name) ?? name, inLiveSpelling(inner)]),
  );
}
