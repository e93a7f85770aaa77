// Whether the program lists its commissions, as it was last found out, and whether their sums are its own.

import type { z } from 'zod';
import { count } from './fields.ts';
import { figureOf } from './figure.ts';
import { optionalList } from './read-optional-lists.ts';

export const commissionList = optionalList.omit({ resource: true }).extend({
  differences: count(
    'sums by affiliate and currency that are not those of the program; null where not every commission is mirrored',
  ).nullable(),
});

export type CommissionListStatus = z.infer<typeof commissionList>;

/** One row. Comparing the sums takes seconds where there are hundreds of thousands of commissions. */
export const readCommissionList = figureOf('commission_coverage', commissionList);
