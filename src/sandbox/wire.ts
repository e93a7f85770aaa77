// How each resource looks on the wire, in both spellings, as SQL expressions that build its JSON: the database
// assembles a page faster than Node would.
//
// Decisions where the contract is silent:
// - Times are UTC with milliseconds: 2026-01-31T09:30:00.000Z. Written with an offset, they are
//   2026-01-31T09:30:00.000+0000, and 2026-01-31T09:30+0000 where the minute is full.
// - A visitor's `customer` and `processor_customer_id` are null; a referral that came by coupon has `link` null.
// - `customer.platform` is `stripe`: the contract spells the filter `stripe_customer_id`.
// - An affiliate nested in a referral or a sale carries its campaign, as the contract's Affiliate table does;
//   in the list of affiliates the campaign needs its expansion.
// - The spelling `live` is that of deployments seen in the wild: `stripe_*` and `paypal_*`, and the further fields
//   that were seen there. The spelling `neutral` is the contract's, and has no field more, except that a program
//   that lists its commissions shows their `state` and `voided_at` wherever it shows a commission.
// - In the spelling `live`, an affiliate who never confirmed has a null `paypal_email`; a confirmed one without it has
//   an empty one, and is paid by `wise_email`. A referral without link has its affiliate's coupon, which is archived
//   while the affiliate is disabled.

import type { OptionalList } from '../config/optional-lists.ts';

/**
 * `neutral` is the contract's spelling; `live` that of deployments seen in the wild. Source: contract, Spelling;
 * Further fields.
 */
export const SPELLINGS = ['neutral', 'live'] as const;
export type Spelling = (typeof SPELLINGS)[number];

/** How times are written: `utc` ends them in Z, `offset` in +0000 and leaves out seconds that are zero. */
export const TIME_STYLES = ['utc', 'offset'] as const;
export type TimeStyle = (typeof TIME_STYLES)[number];

export interface WireStyle {
  readonly spelling: Spelling;
  readonly times: TimeStyle;
  /** Those that are served of the lists that the contract does not show. */
  readonly optionalLists: readonly OptionalList[];
}

export interface WireFormat {
  /** Each returns a SQL expression over the row that the alias names; `more` are further fields of it. */
  campaign(alias: string): string;
  link(alias: string): string;
  affiliate(alias: string, ...more: readonly Field[]): string;
  /** `link` is the alias of the referral's link, joined from the left. */
  referral(alias: string, link: string, ...more: readonly Field[]): string;
  sale(alias: string, ...more: readonly Field[]): string;
  commission(alias: string, ...more: readonly Field[]): string;
}

/** A field's name and the SQL expression of its value. */
export type Field = readonly [name: string, expression: string];

/** Returns the expressions of the given style; `s` is the schema, quoted. */
export function makeWire({ spelling, times, optionalLists }: WireStyle, s: string): WireFormat {
  const live = spelling === 'live';
  const processor = live ? 'stripe' : 'processor';
  const payout = live ? 'paypal' : 'payout';
  const seenInTheWild = (...fields: readonly Field[]) => (live ? fields : []);
  const time = (alias: string, column: string, name = column): Field => [
    name,
    writeTime(`${alias}.${column}`, times),
  ];

  return {
    campaign: (c) =>
      object(
        plain(c, 'id'),
        time(c, 'created_at'),
        time(c, 'updated_at'),
        plain(c, 'name'),
        ...seenInTheWild(
          ['url', "'https://www.example.com/'"],
          ['private', 'false'],
          plain(c, 'commission_percent'),
          ['days_until_commissions_are_due', `${c}.days_until_due`],
        ),
      ),
    link,
    affiliate: (a, ...more) =>
      object(
        plain(a, 'id'),
        time(a, 'created_at'),
        time(a, 'updated_at'),
        plain(a, 'first_name'),
        plain(a, 'last_name'),
        plain(a, 'email'),
        [
          `${payout}_email`,
          live
            ? `case when ${a}.payout_email <> '' or ${a}.confirmed_at is not null then ${a}.payout_email end`
            : `${a}.payout_email`,
        ],
        time(a, 'confirmed_at'),
        time(a, 'payout_email_confirmed_at', `${payout}_email_confirmed_at`),
        plain(a, 'receive_new_commission_notifications'),
        plain(a, 'sign_in_count'),
        plain(a, 'unconfirmed_email'),
        [`${processor}_customer_id`, `${a}.processor_customer_id`],
        [`${processor}_account_id`, `${a}.processor_account_id`],
        plain(a, 'visitors'),
        plain(a, 'leads'),
        plain(a, 'conversions'),
        ...seenInTheWild(
          plain(a, 'state'),
          ['wise_email', `case when ${isPaidByWise(a)} then 'wise.' || ${a}.email end`],
          [
            'wise_email_confirmed_at',
            `case when ${isPaidByWise(a)} then ${writeTime(`${a}.confirmed_at`, times)} end`,
          ],
        ),
        ...more,
      ),
    referral: (r, l, ...more) =>
      object(
        plain(r, 'id'),
        [`${processor}_account_id`, `${r}.processor_account_id`],
        [`${processor}_customer_id`, `${r}.processor_customer_id`],
        plain(r, 'conversion_state'),
        time(r, 'deactivated_at'),
        time(r, 'expires_at'),
        time(r, 'created_at'),
        time(r, 'updated_at'),
        ['customer', customer(r)],
        plain(r, 'visits'),
        ['link', `case when ${l}.id is not null then ${link(l)} end`],
        ...seenInTheWild(time(r, 'became_lead_at'), time(r, 'became_conversion_at'), [
          'coupon',
          `case when ${l}.id is null then (select ${coupon('ca', times)} from ${s}.affiliates ca where ca.id = ${r}.affiliate_id) end`,
        ]),
        ...more,
      ),
    sale: (s, ...more) =>
      object(
        plain(s, 'id'),
        plain(s, 'currency'),
        time(s, 'charged_at'),
        [`${processor}_account_id`, `${s}.processor_account_id`],
        [`${processor}_charge_id`, `${s}.processor_charge_id`],
        time(s, 'invoiced_at'),
        time(s, 'created_at'),
        time(s, 'updated_at'),
        plain(s, 'charge_amount_cents'),
        plain(s, 'refund_amount_cents'),
        plain(s, 'tax_amount_cents'),
        plain(s, 'sale_amount_cents'),
        ...more,
      ),
    commission: (c, ...more) =>
      object(
        plain(c, 'id'),
        time(c, 'created_at'),
        time(c, 'updated_at'),
        plain(c, 'amount'),
        plain(c, 'currency'),
        time(c, 'due_at'),
        time(c, 'paid_at'),
        ...(live || optionalLists.includes('commissions') ? [plain(c, 'state'), time(c, 'voided_at')] : []),
        ...more,
      ),
  };
}

function link(l: string): string {
  return object(
    plain(l, 'id'),
    plain(l, 'url'),
    plain(l, 'token'),
    plain(l, 'visitors'),
    plain(l, 'leads'),
    plain(l, 'conversions'),
  );
}

function customer(r: string): string {
  const fields = object(
    ['platform', "'stripe'"],
    ['id', `${r}.processor_customer_id`],
    ['name', `${r}.customer_name`],
    ['email', `${r}.customer_email`],
  );
  return `case when ${r}.customer_email is not null then ${fields} end`;
}

function object(...fields: readonly Field[]): string {
  const columns = fields.map(([name, value]) => `${value} as "${name}"`);
  // A third less of Postgres' time than json_build_object, which looks up the type of each argument anew for each row.
  return `(select to_json(o) from (select ${columns.join(', ')}) o)`;
}

function plain(alias: string, column: string): Field {
  return [column, `${alias}.${column}`];
}

function writeTime(value: string, style: TimeStyle): string {
  const precise = `'YYYY-MM-DD"T"HH24:MI:SS.MS${style === 'utc' ? '"Z"' : '"+0000"'}'`;
  const format =
    style === 'utc'
      ? precise
      : `case when date_trunc('minute', ${value}) = ${value} then 'YYYY-MM-DD"T"HH24:MI"+0000"' else ${precise} end`;
  return `to_char(${value} at time zone 'UTC', ${format})`;
}

function isPaidByWise(a: string): string {
  return `${a}.payout_email = '' and ${a}.confirmed_at is not null`;
}

// Made of the affiliate's id, not of chance: what a seed makes up stays as it is.
function coupon(a: string, times: TimeStyle): string {
  const isArchived = `${a}.state = 'disabled'`;
  return object(
    ['id', `md5('coupon ' || ${a}.id)::uuid`],
    ['token', `upper(left(md5('token ' || ${a}.id), 8))`],
    ['external_id', `'promo_' || left(md5('promotion ' || ${a}.id), 24)`],
    ['archived', isArchived],
    ['archived_at', `case when ${isArchived} then ${writeTime(`${a}.updated_at`, times)} end`],
    ['affiliate_id', `${a}.id`],
  );
}
