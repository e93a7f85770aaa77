// Whether the program lists its commissions, as it was last found out, and whether their sums are its own.

import { sql } from 'kysely';
import { z } from 'zod';
import { count, text, timestamp, yesNo } from './fields.ts';
import { columnsOf, type Figure, type Reader, readFigure, reportView } from './figure.ts';

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

/**
 * Returns one row. Comparing the sums takes seconds where there are hundreds of thousands of commissions: `read` is
 * readKept for whoever asks again and again.
 */
export function readCommissionList(reader: Reader, read = readFigure): Promise<Figure<CommissionListStatus>> {
  return read(
    reader,
    sql<CommissionListStatus>`
      select ${columnsOf(commissionList)}
      from ${reportView(reader, 'commission_coverage')}`,
  );
}
