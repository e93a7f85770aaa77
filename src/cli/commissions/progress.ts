// Shows how far a batch has come: a line where a person watches, a line in the log every few seconds elsewhere.

import type { StateCounts } from '../../commissions/writer/await-updates.ts';
import { formatCount } from '../../contract/format.ts';
import type { Logger } from '../../log.ts';
import { canDrawStatusLine } from '../../terminal.ts';
import type { BudgetWaitNote } from '../budget-wait.ts';
import { startProgressLine } from '../output/progress-line.ts';
import { describeCounts } from './listings.ts';

export interface BatchProgressView {
  show(counts: StateCounts): void;
  /** Takes the line away. Idempotent: yes. */
  finish(): void;
}

const LOG_INTERVAL_MS = 5_000;

/** Returns the view for `total` requests. */
export function makeBatchProgress(
  total: number,
  { log, budgetWait }: { log: Logger; budgetWait: BudgetWaitNote },
): BatchProgressView {
  return canDrawStatusLine() ? makeLine(total, budgetWait) : makeLog(total, log);
}

function makeLine(total: number, budgetWait: BudgetWaitNote): BatchProgressView {
  const beganMs = performance.now();
  let counts: StateCounts = { pending: total };
  const line = startProgressLine(() => {
    const done = total - (counts.pending ?? 0);
    const waits = budgetWait.read();
    return {
      leftMs: done === 0 ? null : ((performance.now() - beganMs) / done) * (total - done),
      label: 'requests',
      share: total === 0 ? 1 : done / total,
      details: [
        ...(waits === null ? [] : [waits]),
        `${formatCount(done)} of ${formatCount(total)}`,
        describeCounts(counts),
      ],
    };
  });
  return {
    show(shown) {
      counts = shown;
      line.draw();
    },
    finish: line.finish,
  };
}

function makeLog(total: number, log: Logger): BatchProgressView {
  let loggedAtMs = performance.now();
  return {
    show(counts) {
      if (performance.now() - loggedAtMs < LOG_INTERVAL_MS) return;
      loggedAtMs = performance.now();
      log.info({ total, ...counts }, 'commissions.progress');
    },
    finish: () => undefined,
  };
}
