// The affiliate: a person who refers customers; with the campaign that it was recruited for, and the link, its tracked
// address. Source: contract, Affiliate, Campaign and Link.

import { z } from 'zod';
import { identifier, identity, integer, recordSchema, text, timestamp } from './fields.ts';

/** All but the name is seen in the wild; a share may have a fraction. */
export const campaignSchema = recordSchema(identity, {
  name: text,
  url: text.nullable(),
  private: z.boolean().nullable(),
  commission_percent: z.number().nullable(),
  days_until_commissions_are_due: integer.nullable(),
});

export type Campaign = z.infer<typeof campaignSchema>;

// The contract gives a link no times of its own.
export const linkSchema = recordSchema(
  { id: identifier },
  { url: text, token: text, visitors: integer, leads: integer, conversions: integer },
);

export type Link = z.infer<typeof linkSchema>;

/**
 * Beyond what the contract calls null, a time that marks an event may be null until the event: `confirmed_at` of an
 * affiliate who never confirmed, `payout_email_confirmed_at` where `payout_email` is empty (assumed). `state` and
 * `wise_email*` are seen in the wild. `campaign`, `links` and `commission_stats` are present where they were asked for;
 * the contract does not show the fields of `commission_stats`, so it is kept whole.
 */
export const affiliateSchema = recordSchema(identity, {
  first_name: text.nullable(),
  last_name: text.nullable(),
  email: text,
  payout_email: text.nullable(),
  confirmed_at: timestamp.nullable(),
  payout_email_confirmed_at: timestamp.nullable(),
  receive_new_commission_notifications: z.boolean(),
  sign_in_count: integer,
  unconfirmed_email: text.nullable(),
  processor_customer_id: text.nullable(),
  processor_account_id: text.nullable(),
  visitors: integer,
  leads: integer,
  conversions: integer,
  state: text.nullable(),
  wise_email: text.nullable(),
  wise_email_confirmed_at: timestamp.nullable(),
  campaign: campaignSchema.nullable(),
  links: z.array(linkSchema),
  commission_stats: z.record(z.string(), z.unknown()).nullable(),
});

export type Affiliate = z.infer<typeof affiliateSchema>;
