// Whether the program lists its commissions, as it was last found out, and whether their sums are its own.

import { z } from 'zod';
import { count, text, timestamp, yesNo } from './fields.ts';
import { figureOf } from './figure.ts';

export const commissionList = z.object({
  setting: text('COMMISSION_LIST, as last configured'),
  is_served: yesNo('the program lists its commissions; null: it never said').nullable(),
  is_used: yesNo('commissions are mirrored by their list'),
  found_at: timestamp('when the program said so').nullable(),
  asked_at: timestamp('when it was last asked').nullable(),
  problem: text('why the last question decided nothing').nullable(),
  differences: count(
    'sums by affiliate and currency that are not those of the program; null where not every commission is mirrored',
  ).nullable(),
});

export type CommissionListStatus = z.infer<typeof commissionList>;

/** One row. Comparing the sums takes seconds where there are hundreds of thousands of commissions. */
export const readCommissionList = figureOf('commission_coverage', commissionList);
