// GET /v1/referrals: its filters and its one expansion.
//
// Decisions where the contract is silent: `email` is the customer's; filters compare exactly, also its case.

import type { ListingDeps } from './list-affiliates.ts';
import { wrapInEnvelope } from './list-page.ts';
import { readArray, readFilters, readPaging } from './query-parameters.ts';
import type { Field } from './wire.ts';

/** Returns the body of the answer. Source: contract, List referrals. */
export async function listReferrals(deps: ListingDeps, parameters: URLSearchParams): Promise<string> {
  const { wire, s } = deps;
  const more: Field[] = [];
  let joins = ` left join ${s}.links l on l.id = t.link_id`;
  if (readArray(parameters, 'expand').includes('affiliate')) {
    joins += ` join ${s}.affiliates a on a.id = t.affiliate_id join ${s}.campaigns c on c.id = a.campaign_id`;
    more.push(['affiliate', wire.affiliate('a', ['campaign', wire.campaign('c')])]);
  }

  const paging = readPaging(parameters);
  const states = readArray(parameters, 'conversion_state');
  const filters = readFilters(parameters, {
    affiliate_id: 'affiliate_id',
    email: 'customer_email',
    stripe_customer_id: 'processor_customer_id',
  });
  const page = await deps.readListPage(
    { list: 'referrals', states, filters, json: wire.referral('t', 'l', ...more), joins },
    paging,
  );
  return wrapInEnvelope(paging, page);
}
