// GET /v1/affiliates: its filters and expansions.
//
// Decisions where the contract is silent:
// - Filters compare exactly, also the case of an email.
// - `commission_stats` has the shape seen in the wild: per currency, in cents. `gross_revenue` is what was
//   charged, `net_revenue` what is left after refunds and taxes; a voided commission counts in neither `unpaid`
//   nor `paid`. An affiliate without sales has no currencies.

import { wrapInEnvelope } from './envelope.ts';
import type { ReadListPage } from './list-page.ts';
import { readArray, readFilter, readPaging } from './query-parameters.ts';
import type { Field, Wire } from './wire.ts';

export interface ListDeps {
  readonly readListPage: ReadListPage;
  readonly wire: Wire;
  /** The schema, quoted. */
  readonly s: string;
}

/** Returns the body of the answer. Source: contract, List affiliates. */
export async function listAffiliates(deps: ListDeps, parameters: URLSearchParams): Promise<string> {
  const { wire, s } = deps;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const filters = [
    ['campaign_id', 'campaign_id'],
    ['email', 'email'],
    ['stripe_customer_id', 'processor_customer_id'],
  ] as const;
  for (const [name, column] of filters) {
    const value = readFilter(parameters, name);
    if (value !== undefined) conditions.push(`t.${column} = $${values.push(value)}`);
  }

  const expand = readArray(parameters, 'expand');
  const more: Field[] = [];
  let joins = '';
  if (expand.includes('campaign')) {
    joins += ` join ${s}.campaigns c on c.id = t.campaign_id`;
    more.push(['campaign', wire.campaign('c')]);
  }
  if (expand.includes('links')) {
    more.push([
      'links',
      `(select coalesce(json_agg(${wire.link('l')} order by l.created_at, l.id), '[]')
          from ${s}.links l where l.affiliate_id = t.id)`,
    ]);
  }
  if (expand.includes('commission_stats')) more.push(['commission_stats', commissionStats(s)]);

  const paging = readPaging(parameters);
  const page = await deps.readListPage(
    { table: 'affiliates', conditions, values, json: wire.affiliate('t', ...more), joins },
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
