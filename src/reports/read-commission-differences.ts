// Whether the sums of the mirrored commissions are the program's own.

import { z } from 'zod';
import { count } from './fields.ts';
import { figureOf } from './figure.ts';

export const commissionDifferences = count(
  'sums of commissions by affiliate and currency that are not those of the program; null where not every commission is mirrored',
).nullable();

/** One row. Comparing the sums takes seconds where there are hundreds of thousands of commissions. */
export const readCommissionDifferences = figureOf(
  'commission_coverage',
  z.object({ differences: commissionDifferences }),
);
