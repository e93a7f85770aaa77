// What decides whether all is well (find-concerns.ts): the part of the status that does not count rows.

import { onlyRow } from '../db/only-row.ts';
import type { Reader, readFigure } from './figure.ts';
import { type BooksStatus, readBooks } from './read-books.ts';
import { type CommissionListStatus, readCommissionList } from './read-commission-list.ts';
import { type ResourceStatus, readFreshness } from './read-freshness.ts';
import { type OptionalListStatus, readOptionalLists } from './read-optional-lists.ts';
import { judgePayments, type PaymentStatus, readPaymentStates } from './read-payments.ts';
import { type BudgetStatus, readUsage, type WorkerStatus } from './read-usage.ts';

export interface MirrorHealth {
  /** Optional lists are among them where the program has them. */
  readonly resources: readonly ResourceStatus[];
  readonly optional_lists: readonly OptionalListStatus[];
  readonly commission_list: CommissionListStatus;
  readonly budget: BudgetStatus;
  readonly payments: PaymentStatus;
  readonly books: BooksStatus;
  readonly worker: WorkerStatus;
}

export interface ShownHealth {
  readonly health: MirrorHealth;
  /** The statements that gave it. */
  readonly sql: Readonly<Record<'freshness' | 'list' | 'usage' | 'payments' | 'books', string>>;
}

/** Returns the health at this moment. `readList` is readKept for whoever asks again and again. */
export async function readHealth(reader: Reader, readList?: typeof readFigure): Promise<ShownHealth> {
  const freshness = await readFreshness(reader);
  const { rows: optional_lists } = await readOptionalLists(reader);
  const unused = optional_lists.filter(({ is_used }) => !is_used).map((list): string => list.resource);
  const list = await readCommissionList(reader, readList);
  const usage = await readUsage(reader);
  const payments = await readPaymentStates(reader);
  const books = await readBooks(reader);
  const commission_list = onlyRow(list, 'commission_coverage');
  const { secret_refused_since, program_changed_since, ...budget } = onlyRow(usage, 'request_usage');
  return {
    health: {
      resources: freshness.rows.filter(({ resource }) => !unused.includes(resource)),
      optional_lists,
      commission_list,
      budget,
      payments: judgePayments(payments.rows),
      books: onlyRow(books, 'books_comparisons'),
      worker: { secret_refused_since, program_changed_since },
    },
    sql: {
      freshness: freshness.sql,
      list: list.sql,
      usage: usage.sql,
      payments: payments.sql,
      books: books.sql,
    },
  };
}
