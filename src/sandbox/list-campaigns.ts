// GET /v1/campaigns: a list that the contract does not show, but that live deployments have. Served where the sandbox
// is asked to; where not, its address is an unknown route.

import type { ListingDeps } from './list-affiliates.ts';
import { wrapInEnvelope } from './list-page.ts';
import { readPaging } from './query-parameters.ts';

/** Returns the body of the answer. Source: contract, Campaigns. */
export async function listCampaigns(
  { readListPage, wire }: ListingDeps,
  parameters: URLSearchParams,
): Promise<string> {
  const paging = readPaging(parameters);
  const json = wire.campaign('t');
  const page = await readListPage({ list: 'campaigns', states: [], filters: [], json, joins: '' }, paging);
  return wrapInEnvelope(paging, page);
}
