// GET /v1/affiliates: its filters and expansions.
//
// Decisions where the contract is silent:
// - Filters compare exactly, also the case of an email.
// - `commission_stats` has the shape seen in the wild (contract, Commission stats): per currency, in cents.
//   `gross_revenue` is what was charged, `net_revenue` what is left after refunds and taxes; a voided commission counts
//   in neither `unpaid` nor `paid`. An affiliate without sales has no currencies.

import { type ReadListPage, wrapInEnvelope } from './list-page.ts';
import { readArray, readFilters, readPaging } from './query-parameters.ts';
import type { Field, WireFormat } from './wire.ts';

export interface ListingDeps {
  readonly readListPage: ReadListPage;
  readonly wire: WireFormat;
  /** The schema, quoted. */
  readonly s: string;
}

/** Returns what joins the record's own campaign and shows it, where it is to be expanded; else nothing. */
export function expandCampaign(
  { wire, s }: ListingDeps,
  expand: readonly string[],
): { joins: string; more: Field[] } {
  if (!expand.includes('campaign')) return { joins: '', more: [] };
  return {
    joins: ` join ${s}.campaigns c on c.id = t.campaign_id`,
    more: [['campaign', wire.campaign('c')]],
  };
}

/** Returns the body of the answer. Source: contract, List affiliates. */
export async function listAffiliates(deps: ListingDeps, parameters: URLSearchParams): Promise<string> {
  const { wire, s } = deps;
  const expand = readArray(parameters, 'expand');
  const { joins, more } = expandCampaign(deps, expand);
  if (expand.includes('links')) {
    more.push([
      'links',
      `(select coalesce(json_agg(${wire.link('l')} order by l.created_at, l.id), '[]')
          from ${s}.links l where l.affiliate_id = t.id)`,
    ]);
  }
  if (expand.includes('commission_stats')) more.push(['commission_stats', commissionStats(s)]);

  const paging = readPaging(parameters);
  const filters = readFilters(parameters, {
    campaign_id: 'campaign_id',
    email: 'email',
    stripe_customer_id: 'processor_customer_id',
  });
  const page = await deps.readListPage(
    { list: 'affiliates', states: [], filters, json: wire.affiliate('t', ...more), joins },
    paging,
  );
  return wrapInEnvelope(paging, page);
}

function commissionStats(s: string): string {
  const figures = ['unpaid', 'due', 'paid', 'total', 'gross_revenue', 'net_revenue'];
  const money = figures.map(
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
