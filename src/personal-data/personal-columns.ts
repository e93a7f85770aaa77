// Which columns hold personal data, and of which kind. docs/personal-data.md shows the same table, with the reasons.

import type { MirroredTable } from '../records/mirrored-tables.ts';

/**
 * `identity`: an address by which a person is known. `address`: one that several people may share, such as that of a
 * company. `text`: anything else. `pseudonym`: an identifier at the payment processor, which is kept until the person
 * is forgotten. `coupon` and `figures`: JSON of which parts are kept.
 */
export type PersonalKind = 'identity' | 'address' | 'text' | 'pseudonym' | 'coupon' | 'figures';

export const PERSONAL_COLUMNS: Readonly<Record<MirroredTable, Readonly<Record<string, PersonalKind>>>> = {
  campaigns: {},
  affiliates: {
    first_name: 'text',
    last_name: 'text',
    email: 'identity',
    payout_email: 'address',
    unconfirmed_email: 'identity',
    processor_customer_id: 'pseudonym',
    processor_account_id: 'pseudonym',
    wise_email: 'address',
    commission_stats: 'figures',
  },
  // Affiliates choose the token, and most take their name.
  links: { url: 'text', token: 'text' },
  referrals: {
    processor_customer_id: 'pseudonym',
    customer_id: 'pseudonym',
    customer_name: 'text',
    customer_email: 'identity',
    coupon: 'coupon',
  },
  sales: {},
  commissions: {},
};

/** Of these columns a whole row is about the person. */
export const IDENTITY_COLUMNS = {
  affiliates: ['email', 'unconfirmed_email'],
  referrals: ['customer_email'],
} as const;

/** These identify a customer: a person is known by them only where they were named to forget that person. */
export const CUSTOMER_COLUMNS = {
  affiliates: ['processor_customer_id'],
  referrals: ['processor_customer_id', 'customer_id'],
} as const;
