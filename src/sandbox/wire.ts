// How each resource looks on the wire, in both spellings, as SQL expressions that build its JSON: the database
// assembles a page faster than Node would.
//
// Decisions where the contract is silent:
// - Times are UTC with milliseconds: 2026-01-31T09:30:00.000Z.
// - A visitor's `customer` and `processor_customer_id` are null; a referral that came by coupon has `link` null.
// - `customer.platform` is `stripe`: the contract spells the filter `stripe_customer_id`.
// - An affiliate nested in a referral or a sale carries its campaign, as the contract's Affiliate table does;
//   in the list of affiliates the campaign needs its expansion.
// - The spelling `live` is that of deployments seen in the wild: `stripe_*` and `paypal_*`, with the affiliate's
//   `state` and the commission's `state` and `voided_at`. The spelling `neutral` is the contract's, no field more.

/** `neutral` is the contract's spelling; `live` that of deployments seen in the wild (contract, addendum). */
export type Spelling = 'neutral' | 'live';

export interface Wire {
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

/** Returns the expressions of the given spelling. */
export function makeWire(spelling: Spelling): Wire {
  const live = spelling === 'live';
  const processor = live ? 'stripe' : 'processor';
  const payout = live ? 'paypal' : 'payout';
  const seenInTheWild = (...fields: readonly Field[]) => (live ? fields : []);

  return {
    campaign: (c) => object(plain(c, 'id'), time(c, 'created_at'), time(c, 'updated_at'), plain(c, 'name')),
    link,
    affiliate: (a, ...more) =>
      object(
        plain(a, 'id'),
        time(a, 'created_at'),
        time(a, 'updated_at'),
        plain(a, 'first_name'),
        plain(a, 'last_name'),
        plain(a, 'email'),
        [`${payout}_email`, `${a}.payout_email`],
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
        ...seenInTheWild(plain(a, 'state')),
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
        ...seenInTheWild(plain(c, 'state'), time(c, 'voided_at')),
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
  return `json_build_object(${fields.map(([name, value]) => `'${name}', ${value}`).join(', ')})`;
}

function plain(alias: string, column: string): Field {
  return [column, `${alias}.${column}`];
}

function time(alias: string, column: string, name = column): Field {
  return [name, `to_char(${alias}.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`];
}
