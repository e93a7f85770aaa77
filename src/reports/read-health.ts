// What decides whether all is well (find-concerns.ts): the part of the status that does not count rows.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { type BooksStatus, readBooks } from './read-books.ts';
import { type BudgetStatus, readBudget } from './read-budget.ts';
import { type CommissionListStatus, readCommissionList } from './read-commission-list.ts';
import { type ResourceStatus, readFreshness } from './read-freshness.ts';
import { type OptionalListStatus, readOptionalLists } from './read-optional-lists.ts';
import { type PaymentStatus, readPayments } from './read-payments.ts';

export interface MirrorHealth {
  readonly resources: readonly ResourceStatus[];
  readonly optional_lists: readonly OptionalListStatus[];
  readonly commission_list: CommissionListStatus;
  readonly budget: BudgetStatus;
  readonly payments: PaymentStatus;
  readonly books: BooksStatus;
  readonly worker: WorkerStatus;
}

export interface WorkerStatus {
  /** Since when the program refuses the API secret of the workers, which pauses all of them; null where it does not. */
  readonly secret_refused_since: Timestamp | null;
  /** Since when the API has none of the records that the mirror has; null if it has some, as far as is known. */
  readonly program_changed_since: Timestamp | null;
}

/** Returns the health at this moment. `readList` reads the one part of it that takes long (remembered-list.ts). */
export async function readHealth(db: Database, readList = readCommissionList): Promise<MirrorHealth> {
  return {
    resources: await readFreshness(db),
    optional_lists: await readOptionalLists(db),
    commission_list: await readList(db),
    budget: await readBudget(db),
    payments: await readPayments(db),
    books: await readBooks(db),
    worker: await readWorker(db),
  };
}

async function readWorker(db: Database): Promise<WorkerStatus> {
  const { rows } = await sql<WorkerStatus>`
    select secret_refused_since, program_changed_since from request_usage`.execute(db);
  return rows[0] ?? { secret_refused_since: null, program_changed_since: null };
}
