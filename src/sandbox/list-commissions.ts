// GET /v1/commissions: a list that the contract does not show, but that live deployments have. Served where
// the sandbox is asked to; where not, its address is an unknown route.
//
// Decisions where nothing was seen:
// - `campaign` and `sale` come by expansion only; the sale then carries its referral and affiliate, as in the answer
//   for one commission.
// - `affiliate_id` and `state` combine; a state that no commission has finds nothing.

import { nestedSale } from './commissions.ts';
import { expandCampaign, type ListingDeps } from './list-affiliates.ts';
import { wrapInEnvelope } from './list-page.ts';
import { readArray, readFilters, readPaging } from './query-parameters.ts';

/** Returns the body of the answer. Source: contract, A list of commissions. */
export async function listCommissions(deps: ListingDeps, parameters: URLSearchParams): Promise<string> {
  const { wire, s } = deps;
  const expand = readArray(parameters, 'expand');
  const campaign = expandCampaign(deps, expand);
  const { more } = campaign;
  let { joins } = campaign;
  if (expand.includes('sale')) {
    const sale = nestedSale(wire, s, 't.sale_id');
    joins += ` ${sale.joins}`;
    more.push(['sale', sale.json]);
  }

  const paging = readPaging(parameters);
  const states = readArray(parameters, 'state');
  const filters = readFilters(parameters, { affiliate_id: 'affiliate_id' });
  const page = await deps.readListPage(
    { list: 'commissions', states, filters, json: wire.commission('t', ...more), joins },
    paging,
  );
  return wrapInEnvelope(paging, page);
}
