// Every kind of record that the API sends, and its columns.

import { AFFILIATE, CAMPAIGN, LINK } from './affiliate.ts';
import { COMMISSION, SALE } from './commission.ts';
import { type Field, type Fields, isValue } from './declare.ts';
import { PAYOUT } from './payout.ts';
import { REFERRAL } from './referral.ts';

/** In the order of every load: a nested record comes before the record that nests it. */
export const RECORDS = {
  campaigns: CAMPAIGN,
  affiliates: AFFILIATE,
  links: LINK,
  referrals: REFERRAL,
  sales: SALE,
  commissions: COMMISSION,
  payouts: PAYOUT,
} as const;

/** Returns the fields with a column, by column. The columns of a part have its name as a prefix. */
export function columnsOf(fields: Fields): readonly (readonly [column: string, field: Field])[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (isValue(field)) return [[name, field] as const];
    if (field.type !== 'part') return [];
    return columnsOf(field.fields).map(([inner, value]) => [`${name}_${inner}`, value] as const);
  });
}
