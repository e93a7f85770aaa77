// Counts of the known commissions, which are asked for one by one.

import { sql } from 'kysely';
import { z } from 'zod';
import { count, timestamp } from './fields.ts';
import { figure, reportView } from './figure.ts';

export const tracked = z.object({
  tracked: count('known commissions that are asked for again and again'),
  due: count('those whose turn has come; none where the program lists its commissions'),
  unanswered: count('those whose last request was not answered'),
  gone: count('those that the program no longer has'),
  next_poll_at: timestamp('when the next turn comes').nullable(),
});

export type TrackedStatus = z.infer<typeof tracked>;

/** Returns one row. */
export const readTracked = figure(
  (reader) => sql<TrackedStatus>`
      select tracked, due_polls as due, unanswered, gone, next_poll_at
      from ${reportView(reader, 'commission_coverage')}`,
);
