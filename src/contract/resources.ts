// The registry: which resources the API lists, at which path, and what may be asked of each.
// Adding a resource to the mirror starts with an entry here.

import { OPTIONAL_LISTS, type OptionalList } from '../config/optional-lists.ts';
import { affiliateSchema, campaignSchema } from './affiliate.ts';
import { commissionSchema } from './commission.ts';
import { referralSchema } from './referral.ts';

/**
 * In the order in which a sync reads them: a delta of referrals goes by the affiliates' counters, and the lists that a
 * program need not serve come last, so that a wrong address shows where there is no doubt.
 *
 * Source: contract, Endpoints; A list of commissions; Campaigns. `expansions` are the only objects that may be
 * expanded, `filters` the only parameters that narrow a list (spelled as the contract spells them). `mayBeBare`: the
 * whole list was seen as an array without the envelope. `unlisted` says what is known of them where the program does
 * not list them; null: every program does.
 */
export const RESOURCES = {
  affiliates: {
    path: '/v1/affiliates',
    schema: affiliateSchema,
    expansions: ['campaign', 'links', 'commission_stats'],
    filters: ['campaign_id', 'email', 'stripe_customer_id'],
    mayBeBare: false,
    unlisted: null,
  },
  referrals: {
    path: '/v1/referrals',
    schema: referralSchema,
    expansions: ['affiliate'],
    filters: ['affiliate_id', 'conversion_state', 'email', 'stripe_customer_id'],
    mayBeBare: false,
    unlisted: null,
  },
  campaigns: {
    path: '/v1/campaigns',
    schema: campaignSchema,
    expansions: [],
    filters: [],
    mayBeBare: true,
    unlisted: 'those are known that affiliates and commissions name',
  },
  commissions: {
    path: '/v1/commissions',
    schema: commissionSchema,
    expansions: ['sale', 'campaign'],
    filters: ['affiliate_id', 'state'],
    mayBeBare: false,
    unlisted: 'known ones are read one by one',
  },
} as const;

export type ListedResource = keyof typeof RESOURCES;

/** The resources that can be listed, in the order in which a sync reads them. */
export const LISTED_RESOURCES = Object.keys(RESOURCES) as readonly ListedResource[];

/** Returns whether a program need not list the resource. */
export function isOptional(resource: ListedResource): resource is OptionalList {
  return OPTIONAL_LISTS.some((list) => list === resource);
}

export type Expansion<R extends ListedResource> = (typeof RESOURCES)[R]['expansions'][number];

/** The filters for which the contract allows the array form. */
export const FILTERS_OF_SEVERAL = ['conversion_state', 'state'] as const;

/** What narrows a list: several values only where the contract allows the array form. */
export type Filters<R extends ListedResource> = {
  readonly [F in (typeof RESOURCES)[R]['filters'][number]]?: F extends (typeof FILTERS_OF_SEVERAL)[number]
    ? string | readonly string[]
    : string;
};
