// The lists that an affiliate program need not have, because the contract does not show them.

export const OPTIONAL_LISTS = ['campaigns', 'commissions', 'payouts'] as const;

export type OptionalList = (typeof OPTIONAL_LISTS)[number];
