// The figures that decide whether all is well (find-concerns.ts): the part of the status that counts no rows.

import { sql } from 'kysely';
import { z } from 'zod';
import { OPTIONAL_LISTS } from '../contract/optional-lists.ts';
import { onlyRow } from '../db/only-row.ts';
import { count, text, timestamp, yesNo } from './fields.ts';
import { columnsOf, figure, figureOf, mirrorTable, type Reader, readFigure, spellFigure } from './figure.ts';
import { freshness, type ResourceStatus, readFreshness } from './read-freshness.ts';
import { judgePayments, payments, readHasRequests, readPaymentStates } from './read-payments.ts';

/** The results of the last comparisons of books with the API (`commissions reconcile`). */
export const books = z.object({
  compared_at: timestamp('when books were last compared with the API').nullable(),
  differing: count('commissions that differed then'),
  differ_since: timestamp('when the first comparison with a difference ended').nullable(),
  differ_in: z.enum(['file', 'payment_ledger']).describe('which books differ; file if both do').nullable(),
});

export type BooksStatus = z.infer<typeof books>;

/** Returns one row: the last comparison of each kind of books. */
export const readBooks = figure(
  (reader) => sql<BooksStatus>`
      select max(compared_at) as compared_at, coalesce(sum(differing), 0)::bigint as differing,
             min(differ_since) as differ_since, min(books) filter (where differing > 0) as differ_in
      from ${mirrorTable(reader, 'books_comparisons')}`,
);

const commissionDifferences = count(
  'sums of commissions by affiliate and currency that differ from those of the API; null if not every commission is mirrored',
).nullable();

/** Returns one row. The comparison takes seconds for hundreds of thousands of commissions. */
export const readCommissionDifferences = figureOf(
  'commission_coverage',
  z.object({ differences: commissionDifferences }),
);

export const budget = z.object({
  used_requests: count('requests that count against the limit now'),
  foreign_requests: count('requests that other users of the account must have made'),
  limit_requests: count('the limit that the API names, if it is lower than ours').nullable(),
  paused_until: timestamp('nothing is sent before this').nullable(),
  last_throttled_at: timestamp('when the API last answered 429').nullable(),
});

export const worker = z.object({
  secret_refused_since: timestamp(
    'since when all workers pause, because the API refuses the secret',
  ).nullable(),
  program_changed_since: timestamp(
    'since when all workers pause, because the API has none of the records that the mirror has',
  ).nullable(),
});

export type BudgetStatus = z.infer<typeof budget>;

/** Returns one row. Takes no permit. */
export const readUsage = figureOf('request_usage', z.object({ ...budget.shape, ...worker.shape }));

export const optionalList = z.object({
  resource: z.enum(OPTIONAL_LISTS),
  setting: text('the last value of OPTIONAL_LISTS for it: auto, on or off'),
  is_served: yesNo('the API has the list; null: not known yet').nullable(),
  is_used: yesNo('the resource is mirrored by its list'),
  found_at: timestamp('when the API answered that').nullable(),
  asked_at: timestamp('when the API was last asked').nullable(),
  problem: text('why the last answer decided nothing').nullable(),
});

export type OptionalListStatus = z.infer<typeof optionalList>;

/** A row for each list. */
export const readOptionalLists = figure(
  (reader) => sql<OptionalListStatus>`
      select ${columnsOf(optionalList)}
      from ${mirrorTable(reader, 'optional_lists')}
      order by resource`,
);

export const mirrorHealth = z.object({
  resources: z
    .array(freshness)
    .readonly()
    .describe('how fresh each resource is; optional lists only if the API has them'),
  optional_lists: z
    .array(optionalList)
    .readonly()
    .describe('lists that the contract does not show, and whether the API has them'),
  commission_differences: commissionDifferences,
  budget: budget.describe("the account's request budget, now"),
  payments,
  books: books.describe('the result of the last commissions reconcile'),
  worker,
});

export type MirrorHealth = z.infer<typeof mirrorHealth>;

export interface ShownHealth {
  readonly health: MirrorHealth;
  /** The statements that gave it. */
  readonly sql: Readonly<Record<'freshness' | 'sums' | 'usage' | 'payments' | 'books', string>>;
}

/**
 * Returns the health at this moment. A caller that asks often passes readMemoized as `readSums`. Planning the
 * statements about sums and payments takes most of the time in a program at rest: they are left out if they would find
 * nothing.
 */
export async function readHealth(reader: Reader, readSums = readFigure): Promise<ShownHealth> {
  const resources = await readFreshness(reader);
  const { rows: optional_lists } = await readOptionalLists(reader);
  const unused = optional_lists.filter(({ is_used }) => !is_used).map((list): string => list.resource);
  const listed = resources.rows.filter(({ resource }) => !unused.includes(resource));
  const sums = await readCommissionDifferences(reader, hasAllCommissions(listed) ? readSums : spellFigure);
  const usage = await readUsage(reader);
  const states = await readPaymentStates(reader, (await readHasRequests(reader)) ? readFigure : spellFigure);
  const comparisons = await readBooks(reader);
  const { secret_refused_since, program_changed_since, ...used } = onlyRow(usage, 'request_usage');
  return {
    health: {
      resources: listed,
      optional_lists,
      commission_differences: sums.rows[0]?.differences ?? null,
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

/** Without all commissions, the report commission_coverage compares no sums. */
function hasAllCommissions(listed: readonly ResourceStatus[]): boolean {
  return listed.some(
    ({ resource, everything_as_of }) => resource === 'commissions' && everything_as_of !== null,
  );
}
