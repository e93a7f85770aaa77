// The registry of the API's lists. Adding a resource to the mirror starts with an entry here.

import { affiliateSchema, campaignSchema } from './affiliate.ts';
import { commissionSchema } from './commission.ts';
import { OPTIONAL_LISTS, type OptionalList } from './optional-lists.ts';
import { payoutSchema } from './payout.ts';
import { referralSchema } from './referral.ts';

/**
 * In the order in which a sync reads them: a delta of referrals goes by the affiliates' counters, and optional lists
 * come last, so that a wrong address shows at a list that every program has.
 *
 * Source: contract, Endpoints; A list of commissions; Campaigns; Payouts. `expansions` are the only objects that may be
 * expanded, `filters` the only parameters that narrow a list (spelled as the contract spells them). `mayBeBare`: the
 * whole list was seen as an array without the envelope. `unlisted` says which records are known if the program does not
 * list them; null: every program lists them. `openStates` are the values of the filter `state` of records that can
 * still change; a record of the resource can also be read by its identifier. Null: the API has neither.
 */
export const RESOURCES = {
  affiliates: {
    path: '/v1/affiliates',
    schema: affiliateSchema,
    expansions: ['campaign', 'links', 'commission_stats'],
    filters: ['campaign_id', 'email', 'stripe_customer_id'],
    mayBeBare: false,
    unlisted: null,
    openStates: null,
  },
  referrals: {
    path: '/v1/referrals',
    schema: referralSchema,
    expansions: ['affiliate'],
    filters: ['affiliate_id', 'conversion_state', 'email', 'stripe_customer_id'],
    mayBeBare: false,
    unlisted: null,
    openStates: null,
  },
  campaigns: {
    path: '/v1/campaigns',
    schema: campaignSchema,
    expansions: [],
    filters: [],
    mayBeBare: true,
    unlisted: 'only those that affiliates and commissions name are known',
    openStates: null,
  },
  commissions: {
    path: '/v1/commissions',
    schema: commissionSchema,
    expansions: ['sale', 'campaign'],
    filters: ['affiliate_id', 'state'],
    mayBeBare: false,
    unlisted: 'known ones are read one by one',
    openStates: ['pending', 'due'],
  },
  payouts: {
    path: '/v1/payouts',
    schema: payoutSchema,
    expansions: ['affiliate', 'commissions'],
    filters: ['affiliate_id', 'state'],
    mayBeBare: false,
    unlisted: 'none is known',
    openStates: ['pending', 'due', 'processing'],
  },
} as const;

export type ListedResource = keyof typeof RESOURCES;

/** A resource of which the API can be asked for a single record. */
export type SingleResource = 'commissions' | 'payouts';

export function isSingle(resource: ListedResource): resource is SingleResource {
  return RESOURCES[resource].openStates !== null;
}

/** In the order in which a sync reads them. */
export const LISTED_RESOURCES = Object.keys(RESOURCES) as readonly ListedResource[];

/** Returns whether an affiliate program need not list the resource. */
export function isOptional(resource: ListedResource): resource is OptionalList {
  return OPTIONAL_LISTS.some((list) => list === resource);
}

export type Expansion<R extends ListedResource> = (typeof RESOURCES)[R]['expansions'][number];

/** The filters for which the contract allows the array form. */
export const FILTERS_OF_SEVERAL = ['conversion_state', 'state'] as const;

export type Filters<R extends ListedResource> = {
  readonly [F in (typeof RESOURCES)[R]['filters'][number]]?: F extends (typeof FILTERS_OF_SEVERAL)[number]
    ? string | readonly string[]
    : string;
};
