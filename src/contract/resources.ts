// The registry: which resources the API serves, at which path, and what may be asked of each.
// Adding a resource to the mirror starts with a line here.

import { affiliateSchema } from './affiliate.ts';
import { commissionSchema } from './commission.ts';
import { referralSchema } from './referral.ts';

/**
 * Source: contract, Endpoints. `expansions` are the only objects that may be expanded, `filters` the only
 * parameters that narrow a list (spelled as the contract spells them). A commission is read one at a time.
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
    expansions: [],
    filters: [],
  },
} as const;

/** The resources that can be listed, in the order in which a sync reads them. */
export const LISTED_RESOURCES = ['affiliates', 'referrals'] as const;

export type ListedResource = (typeof LISTED_RESOURCES)[number];

export type Expansion<R extends ListedResource> = (typeof RESOURCES)[R]['expansions'][number];

/** What narrows a list: several values only where the contract allows the array form. */
export type Filters<R extends ListedResource> = {
  readonly [F in (typeof RESOURCES)[R]['filters'][number]]?: F extends 'conversion_state'
    ? string | readonly string[]
    : string;
};
