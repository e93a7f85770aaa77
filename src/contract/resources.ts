// The registry: which resources the API serves, at which path, and what may be asked of each.
// Adding a resource to the mirror starts with a line here.

import { affiliateSchema } from './affiliate.ts';
import { commissionSchema } from './commission.ts';
import { referralSchema } from './referral.ts';

/**
 * Source: contract, Endpoints. `expansions` are the only objects that may be expanded, `filters` the only
 * parameters that narrow a list (spelled as the contract spells them). A program need
 * not serve the list of commissions. Source of that: contract, A list of commissions.
 */
export const RESOURCES = {
  affiliates: {
    name: 'affiliates',
    path: '/v1/affiliates',
    schema: affiliateSchema,
    table: 'affiliates',
    expansions: ['campaign', 'links', 'commission_stats'],
    filters: ['campaign_id', 'email', 'stripe_customer_id'],
  },
  referrals: {
    name: 'referrals',
    path: '/v1/referrals',
    schema: referralSchema,
    table: 'referrals',
    expansions: ['affiliate'],
    filters: ['affiliate_id', 'conversion_state', 'email', 'stripe_customer_id'],
  },
  commissions: {
    name: 'commissions',
    path: '/v1/commissions',
    schema: commissionSchema,
    table: 'commissions',
    expansions: ['sale', 'campaign'],
    filters: ['affiliate_id', 'state'],
  },
} as const;

/** The resources that the contract lists: every program does. */
export const ALWAYS_LISTED = ['affiliates', 'referrals'] as const;

export type AlwaysListed = (typeof ALWAYS_LISTED)[number];

/** The resources that can be listed, in the order in which a sync reads them; commissions where the program does. */
export const LISTED_RESOURCES = [...ALWAYS_LISTED, 'commissions'] as const;

export type ListedResource = (typeof LISTED_RESOURCES)[number];

export type Expansion<R extends ListedResource> = (typeof RESOURCES)[R]['expansions'][number];

/** The filters for which the contract allows the array form. */
export const FILTERS_OF_SEVERAL = ['conversion_state', 'state'] as const;

/** What narrows a list: several values only where the contract allows the array form. */
export type Filters<R extends ListedResource> = {
  readonly [F in (typeof RESOURCES)[R]['filters'][number]]?: F extends (typeof FILTERS_OF_SEVERAL)[number]
    ? string | readonly string[]
    : string;
};
