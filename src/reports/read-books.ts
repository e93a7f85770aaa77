// What the last comparisons of the books with the program found (`commissions reconcile`).

import { sql } from 'kysely';
import { z } from 'zod';
import { count, timestamp } from './fields.ts';
import { figure, mirrorTable } from './figure.ts';

export const books = z.object({
  compared_at: timestamp('when books were last compared with the program').nullable(),
  differing: count('commissions that differed then'),
  differ_since: timestamp('when the first comparison ended that found some').nullable(),
  differ_in: z
    .enum(['file', 'payment_ledger'])
    .describe('which books differ; a file, where both do')
    .nullable(),
});

export type BooksStatus = z.infer<typeof books>;

/** Returns one row: the last comparison of each kind of books. */
export const readBooks = figure(
  (reader) => sql<BooksStatus>`
      select max(compared_at) as compared_at, coalesce(sum(differing), 0)::bigint as differing,
             min(differ_since) as differ_since, min(books) filter (where differing > 0) as differ_in
      from ${mirrorTable(reader, 'books_comparisons')}`,
);
