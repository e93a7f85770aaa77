// The lists, GET /v1/affiliates and the others: the filters and expansions of contract/resources.ts as SQL. An optional
// list is served if the sandbox is asked to; otherwise its path is an unknown route.
//
// Decisions where the contract is silent:
// - Filters combine, and compare exactly, also the case of an email; that of referrals is the customer's. A state that
//   no record has finds nothing.
// - A commission in the list has its campaign and sale by expansion only; the sale then carries its referral and
//   affiliate, as in the answer for one commission.
// - `commission_stats` has the shape seen in the wild (contract, Commission stats): per currency, in cents.
//   `gross_revenue` is what was charged, `net_revenue` what is left after refunds and taxes; a voided commission counts
//   in neither `unpaid` nor `paid`. An affiliate without sales has no currencies.

import { type Expansion, FILTERS_OF_SEVERAL, type ListedResource, RESOURCES } from '../contract/resources.ts';
import { nestedSale } from './commissions.ts';
import { type ReadListPage, wrapInEnvelope } from './list-page.ts';
import { nestedInPayout } from './payouts.ts';
import { readArray, readFilters, readPaging } from './query-parameters.ts';
import type { Field, WireFormat } from './wire.ts';

export interface ListingDeps {
  readonly readListPage: ReadListPage;
  readonly wire: WireFormat;
  /** The schema, quoted. */
  readonly s: string;
}

/** The JSON of a record, whose row is `t`, with further fields. */
const RECORDS: Readonly<Record<ListedResource, (wire: WireFormat, more: readonly Field[]) => string>> = {
  affiliates: (wire, more) => wire.affiliate('t', ...more),
  referrals: (wire, more) => wire.referral('t', 'l', ...more),
  campaigns: (wire) => wire.campaign('t'),
  commissions: (wire, more) => wire.commission('t', ...more),
  payouts: (wire, more) => wire.payout('t', ...more),
};

/** Filters with another name than their column. */
const COLUMNS: Readonly<Record<ListedResource, Readonly<Record<string, string>>>> = {
  affiliates: { stripe_customer_id: 'processor_customer_id' },
  referrals: { email: 'customer_email', stripe_customer_id: 'processor_customer_id' },
  campaigns: {},
  commissions: {},
  payouts: {},
};

/** The JSON of each object that may be expanded, and the joins that it needs. */
const EXPANSIONS: Readonly<
  Record<
    Expansion<ListedResource>,
    (deps: ListingDeps, list: ListedResource) => { json: string; joins: string }
  >
> = {
  campaign: ({ wire, s }) => ({
    json: wire.campaign('c'),
    joins: `join ${s}.campaigns c on c.id = t.campaign_id`,
  }),
  links: ({ wire, s }) => ({
    json: `(select coalesce(json_agg(${wire.link('l')} order by l.created_at, l.id), '[]')
              from ${s}.links l where l.affiliate_id = t.id)`,
    joins: '',
  }),
  commission_stats: ({ s }) => ({ json: commissionStats(s), joins: '' }),
  affiliate({ wire, s }, list) {
    if (list === 'payouts') return nestedInPayout(wire, s, 't').affiliate;
    return {
      json: wire.affiliate('a', ['campaign', wire.campaign('c')]),
      joins: `join ${s}.affiliates a on a.id = t.affiliate_id join ${s}.campaigns c on c.id = a.campaign_id`,
    };
  },
  sale: ({ wire, s }) => nestedSale(wire, s, 't.sale_id'),
  commissions: ({ wire, s }) => nestedInPayout(wire, s, 't').commissions,
};

/** Returns the body of the answer. Source: contract, List affiliates; List referrals; A list of commissions. */
export async function readList(
  deps: ListingDeps,
  list: ListedResource,
  parameters: URLSearchParams,
): Promise<string> {
  const { wire, s } = deps;
  const { filters, expansions } = RESOURCES[list];
  const expand = readArray(parameters, 'expand');
  const expanded = expansions
    .filter((name) => expand.includes(name))
    .map((name) => ({ name, ...EXPANSIONS[name](deps, list) }));
  const more = expanded.map(({ name, json }) => [name, json] as const);
  const ofLink = list === 'referrals' ? `left join ${s}.links l on l.id = t.link_id` : '';
  const isOfSeveral = (name: string) => FILTERS_OF_SEVERAL.some((several) => several === name);
  const columns = filters
    .filter((name) => !isOfSeveral(name))
    .map((name) => [name, COLUMNS[list][name] ?? name] as const);
  const paging = readPaging(parameters);
  const page = await deps.readListPage(
    {
      list,
      states: filters.filter(isOfSeveral).flatMap((name) => readArray(parameters, name)),
      filters: readFilters(parameters, Object.fromEntries(columns)),
      json: RECORDS[list](wire, more),
      joins: [ofLink, ...expanded.map(({ joins }) => joins)].join(' '),
    },
    paging,
  );
  return wrapInEnvelope(paging, page);
}

/** The figures of `commission_stats` in each currency. */
export const STATS = ['unpaid', 'due', 'paid', 'total', 'gross_revenue', 'net_revenue'] as const;

function commissionStats(s: string): string {
  const money = STATS.map(
    (name) => `'${name}', json_build_object('cents', m.${name}, 'currency_iso', m.currency)`,
  );
  const sum = (amount: string, condition: string) =>
    `coalesce(sum(${amount}) filter (where ${condition}), 0)`;
  return `json_build_object('currencies', coalesce((
    select json_object_agg(m.currency, json_build_object(${money.join(', ')}) order by m.currency)
      from (select sa.currency,
                   ${sum('co.amount', "co.state in ('pending', 'due')")} as unpaid,
                   ${sum('co.amount', "co.state = 'due'")} as due,
                   ${sum('co.amount', "co.state = 'paid'")} as paid,
                   ${sum('co.amount', "co.state in ('pending', 'due', 'paid')")} as total,
                   sum(sa.charge_amount_cents) as gross_revenue,
                   sum(sa.sale_amount_cents) as net_revenue
              from ${s}.sales sa left join ${s}.commissions co on co.sale_id = sa.id
             where sa.affiliate_id = t.id group by sa.currency) m), '{}'))`;
}
