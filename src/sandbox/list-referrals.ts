// GET /v1/referrals: its filters and its one expansion.
//
// Decisions where the contract is silent: `email` is the customer's; filters compare exactly, also its case.

import { wrapInEnvelope } from './envelope.ts';
import type { ListDeps } from './list-affiliates.ts';
import { readArray, readFilter, readPaging } from './query-parameters.ts';
import type { Field } from './wire.ts';

/** Returns the body of the answer. Source: contract, List referrals. */
export async function listReferrals(deps: ListDeps, parameters: URLSearchParams): Promise<string> {
  const { wire, s } = deps;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const filters = [
    ['affiliate_id', 'affiliate_id'],
    ['email', 'customer_email'],
    ['stripe_customer_id', 'processor_customer_id'],
  ] as const;
  for (const [name, column] of filters) {
    const value = readFilter(parameters, name);
    if (value !== undefined) conditions.push(`t.${column} = $${values.push(value)}`);
  }
  const [state, ...further] = readArray(parameters, 'conversion_state');
  // One state is compared by itself: Postgres then reads the index in the order of the list.
  if (further.length > 0) conditions.push(`t.conversion_state = any($${values.push([state, ...further])})`);
  else if (state !== undefined) conditions.push(`t.conversion_state = $${values.push(state)}`);

  const more: Field[] = [];
  let joins = ` left join ${s}.links l on l.id = t.link_id`;
  if (readArray(parameters, 'expand').includes('affiliate')) {
    joins += ` join ${s}.affiliates a on a.id = t.affiliate_id join ${s}.campaigns c on c.id = a.campaign_id`;
    more.push(['affiliate', wire.affiliate('a', ['campaign', wire.campaign('c')])]);
  }

  const paging = readPaging(parameters);
  const page = await deps.readListPage(
    { table: 'referrals', conditions, values, json: wire.referral('t', 'l', ...more), joins },
    paging,
  );
  return wrapInEnvelope(paging, page);
}
