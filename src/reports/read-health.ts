// What decides whether all is well (find-concerns.ts): the part of the status that does not count rows.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { type BudgetStatus, readBudget } from './read-budget.ts';
import { type CommissionListStatus, readCommissionList } from './read-commission-list.ts';
import { type ResourceStatus, readFreshness } from './read-freshness.ts';
import { type PaymentStatus, readPayments } from './read-payments.ts';

export interface MirrorHealth {
  readonly resources: readonly ResourceStatus[];
  readonly commission_list: CommissionListStatus;
  readonly budget: BudgetStatus;
  readonly payments: PaymentStatus;
  readonly worker: WorkerStatus;
}

export interface WorkerStatus {
  /** Since when the program refuses the API secret of the workers, which pauses all of them; null where it does not. */
  readonly secret_refused_since: Timestamp | null;
}

/** Returns the health at this moment. `readList` reads the one part of it that takes long (remembered-list.ts). */
export async function readHealth(db: Database, readList = readCommissionList): Promise<MirrorHealth> {
  return {
    resources: await readFreshness(db),
    commission_list: await readList(db),
    budget: await readBudget(db),
    payments: await readPayments(db),
    worker: await readWorker(db),
  };
}

async function readWorker(db: Database): Promise<WorkerStatus> {
  const { rows } = await sql<WorkerStatus>`
    select refused_at as secret_refused_since from worker_state`.execute(db);
  return rows[0] ?? { secret_refused_since: null };
}
