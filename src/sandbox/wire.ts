// The JSON of each resource, in both spellings, as SQL expressions: the database assembles a page faster than Node
// would.
//
// Decisions where the contract is silent:
// - Times are UTC with milliseconds: 2026-01-31T09:30:00.000Z. Written with an offset, they are
//   2026-01-31T09:30:00.000+0000, and 2026-01-31T09:30+0000 at full minutes.
// - `customer.platform` is `stripe`: the contract spells the filter `stripe_customer_id`.
// - An affiliate nested in a referral or a sale carries its campaign, as the contract's Affiliate table does;
//   in the list of affiliates the campaign needs its expansion.
// - The spelling `neutral` is the contract's, and sends the fields of its tables; if commissions are listed, every
//   commission also has `state` and `voided_at`.
// - The spelling `live` is that of deployments seen in the wild: `stripe_*` and `paypal_*`, the further fields that
//   were seen there, visitors, and the nulls that were seen. A visitor's `customer` and `stripe_customer_id` are null.
// A   referral that came by coupon has `link` null, and its affiliate's coupon, which is archived while the affiliate
// is   disabled. An affiliate who never confirmed has a null `paypal_email`; a confirmed one without it has an empty
// one,   and is paid by `wise_email`.

import { type Field as Declared, type Fields, isValue } from '../contract/declare.ts';
import type { OptionalList } from '../contract/optional-lists.ts';
import { RECORDS } from '../contract/records.ts';

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
  /** The optional lists that are served. */
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
  /** The commission as its payout shows it. */
  paidOut(alias: string): string;
  payout(alias: string, ...more: readonly Field[]): string;
}

/** A field's name and the SQL expression of its value. */
export type Field = readonly [name: string, expression: string];

/** A commission within a payout has no more. Source: contract, Payouts. */
export const IN_PAYOUT: Fields = Object.fromEntries(
  Object.entries(RECORDS.commissions.fields).filter(
    ([name]) => !['state', 'voided_at', 'campaign', 'sale'].includes(name),
  ),
);

type Sent = Pick<WireStyle, 'spelling' | 'optionalLists'>;

/** Returns whether records of that style have the field without expansion. */
export function isSent({ spelling, optionalLists }: Sent, fields: Fields, { presence }: Declared): boolean {
  if (presence !== 'seen in the wild') return presence !== 'expanded';
  return (
    spelling === 'live' || (optionalLists.includes('commissions') && fields === RECORDS.commissions.fields)
  );
}

export function sentName({ spelling }: Sent, name: string, field: Fields[string]): string {
  return spelling === 'live' && isValue(field) ? (field.alias ?? name) : name;
}

/** `s` is the schema, quoted. */
export function makeWire(style: WireStyle, s: string): WireFormat {
  const { times } = style;
  /** Each field's name and expression: one of those that are given, or its column, whose name begins with `before`. */
  const build = (fields: Fields, before: string, given: readonly Field[] = []) => {
    const expressions = new Map(given);
    const shown = Object.entries(fields).flatMap(([name, field]): Field[] => {
      const column = `${before}${name}`;
      const ofColumn = field.type === 'timestamp' ? writeTime(column, times) : column;
      const isOwn = isValue(field) && isSent(style, fields, field);
      const expression = expressions.get(name) ?? (isOwn ? ofColumn : null);
      return expression === null ? [] : [[sentName(style, name, field), expression]];
    });
    return object(...shown);
  };
  const { campaigns, affiliates, links, referrals, sales, commissions, payouts } = RECORDS;
  const ifPresent = (column: string, expression: string): string =>
    `case when ${column} is not null then ${expression} end`;
  const link = (l: string) => build(links.fields, `${l}.`);
  const couponOf = (r: string, l: string): Field => [
    'coupon',
    `case when ${l}.id is null then (select ${coupon('ca', times)} from ${s}.affiliates ca where ca.id = ${r}.affiliate_id) end`,
  ];

  return {
    campaign: (c) => build(campaigns.fields, `${c}.`),
    link,
    affiliate: (a, ...more) => build(affiliates.fields, `${a}.`, more),
    referral: (r, l, ...more) =>
      build(referrals.fields, `${r}.`, [
        [
          'customer',
          ifPresent(`${r}.customer_id`, build(referrals.fields.customer.fields, `${r}.customer_`)),
        ],
        ['link', ifPresent(`${l}.id`, link(l))],
        ...(style.spelling === 'live' ? [couponOf(r, l)] : []),
        ...more,
      ]),
    sale: (sa, ...more) => build(sales.fields, `${sa}.`, more),
    commission: (co, ...more) => build(commissions.fields, `${co}.`, more),
    paidOut: (co) => build(IN_PAYOUT, `${co}.`, [['processor_account_id', `${co}.processor_account_id`]]),
    payout: (p, ...more) => build(payouts.fields, `${p}.`, more),
  };
}

function object(...fields: readonly Field[]): string {
  const columns = fields.map(([name, value]) => `${value} as "${name}"`);
  // A third less of Postgres' time than json_build_object, which looks up the type of each argument anew for each row.
  return `(select to_json(o) from (select ${columns.join(', ')}) o)`;
}

function writeTime(value: string, style: TimeStyle): string {
  const precise = `'YYYY-MM-DD"T"HH24:MI:SS.MS${style === 'utc' ? '"Z"' : '"+0000"'}'`;
  const format =
    style === 'utc'
      ? precise
      : `case when date_trunc('minute', ${value}) = ${value} then 'YYYY-MM-DD"T"HH24:MI"+0000"' else ${precise} end`;
  return `to_char(${value} at time zone 'UTC', ${format})`;
}

// Made of the affiliate's id, not of chance, so that a seed always gives the same program.
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
