// Every kind of record that the API sends, and the columns that hold one.

import { AFFILIATE, CAMPAIGN, LINK } from './affiliate.ts';
import { COMMISSION, SALE } from './commission.ts';
import { type Field, type Fields, isValue } from './declare.ts';
import { REFERRAL } from './referral.ts';

/** In the order in which every load writes them: what is nested comes before what it is nested in. */
export const RECORDS = {
  campaigns: CAMPAIGN,
  affiliates: AFFILIATE,
  links: LINK,
  referrals: REFERRAL,
  sales: SALE,
  commissions: COMMISSION,
} as const;

/** Returns the fields that have a column of their own, by the column: those of a part have its name before theirs. */
export function columnsOf(fields: Fields): readonly (readonly [column: string, field: Field])[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (isValue(field)) return [[name, field] as const];
    if (field.type !== 'part') return [];
    return columnsOf(field.fields).map(([inner, value]) => [`${name}_${inner}`, value] as const);
  });
}
