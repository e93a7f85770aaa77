// How far a batch of requests has come.

import type { StateCounts } from '../../commissions/writer/await-updates.ts';
import type { Logger } from '../../log.ts';
import type { BudgetWaitNote } from '../budget-wait.ts';
import { makeProgress } from '../output/progress.ts';
import { describeCounts } from './listings.ts';

export interface BatchProgressView {
  show(counts: StateCounts): void;
  /** Takes the line away. Idempotent: yes. */
  finish(): void;
}

/** Returns the view for `total` requests, none of which has ended. */
export function makeBatchProgress(
  total: number,
  { log, budgetWait }: { readonly log: Logger; readonly budgetWait: BudgetWaitNote },
): BatchProgressView {
  const { show, finish } = makeProgress({
    budgetWait,
    logProgress: (fields) => log.info(fields, 'commissions.progress'),
  });
  const showCounts = (counts: StateCounts) =>
    show({
      label: 'requests',
      unit: 'requests',
      done: total - (counts.pending ?? 0),
      total,
      details: [describeCounts(counts)],
      fields: { total, ...counts },
    });
  showCounts({ pending: total });
  return { show: showCounts, finish };
}
