// What decides whether all is well (find-concerns.ts): the part of the status that does not count rows.

import { z } from 'zod';
import { onlyRow } from '../db/only-row.ts';
import { count } from './fields.ts';
import { figureOf, type Reader, type readFigure } from './figure.ts';
import { books, readBooks } from './read-books.ts';
import { freshness, readFreshness } from './read-freshness.ts';
import { optionalList, readOptionalLists } from './read-optional-lists.ts';
import { judgePayments, payments, readPaymentStates } from './read-payments.ts';
import { budget, readUsage, worker } from './read-usage.ts';

const commissionDifferences = count(
  'sums of commissions by affiliate and currency that are not those of the program; null where not every commission is mirrored',
).nullable();

/** One row. Comparing the sums takes seconds where there are hundreds of thousands of commissions. */
export const readCommissionDifferences = figureOf(
  'commission_coverage',
  z.object({ differences: commissionDifferences }),
);

export const mirrorHealth = z.object({
  resources: z
    .array(freshness)
    .readonly()
    .describe('how fresh each resource is; of optional lists, those that the program has'),
  optional_lists: z
    .array(optionalList)
    .readonly()
    .describe('lists that the contract does not show, and whether the program has them'),
  commission_differences: commissionDifferences,
  budget: budget.describe("the account's request budget, now"),
  payments,
  books: books.describe('what commissions reconcile last found'),
  worker,
});

export type MirrorHealth = z.infer<typeof mirrorHealth>;

export interface ShownHealth {
  readonly health: MirrorHealth;
  /** The statements that gave it. */
  readonly sql: Readonly<Record<'freshness' | 'sums' | 'usage' | 'payments' | 'books', string>>;
}

/** Returns the health at this moment. A caller that asks often passes readMemoized as `readSums`. */
export async function readHealth(reader: Reader, readSums?: typeof readFigure): Promise<ShownHealth> {
  const resources = await readFreshness(reader);
  const { rows: optional_lists } = await readOptionalLists(reader);
  const unused = optional_lists.filter(({ is_used }) => !is_used).map((list): string => list.resource);
  const sums = await readCommissionDifferences(reader, readSums);
  const usage = await readUsage(reader);
  const states = await readPaymentStates(reader);
  const comparisons = await readBooks(reader);
  const { secret_refused_since, program_changed_since, ...used } = onlyRow(usage, 'request_usage');
  return {
    health: {
      resources: resources.rows.filter(({ resource }) => !unused.includes(resource)),
      optional_lists,
      commission_differences: onlyRow(sums, 'commission_coverage').differences,
      budget: used,
      payments: judgePayments(states.rows),
      books: onlyRow(comparisons, 'books_comparisons'),
      worker: { secret_refused_since, program_changed_since },
    },
    sql: {
      freshness: resources.sql,
      sums: sums.sql,
      usage: usage.sql,
      payments: states.sql,
      books: comparisons.sql,
    },
  };
}
