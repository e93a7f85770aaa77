// Waits until requests have ended, and shows how many have. If that is cut short, it reports how far they came: the
// others stay queued, and a later command applies them.

import type { Logger } from '../../base/log.ts';
import { countStates } from '../../payments/select-requests.ts';
import type { StateCounts } from '../../payments/write/await-updates.ts';
import { writerConcurrency } from '../../payments/write/writer-concurrency.ts';
import { commandFor } from '../../reports/concern-advice.ts';
import type { ConnectedProgram } from '../connect-program.ts';
import { Stopped } from '../lifetime.ts';
import { printError } from '../output/print.ts';
import { type BudgetWaitNote, makeProgress } from '../output/progress.ts';
import { describeCounts } from './listings.ts';

interface Named {
  readonly name: string;
  readonly group: string;
}

/**
 * Returns how the requests ended. `what` is their name for `cancel`, with the group of that command; null if they have
 * none in common.
 *
 * Throws: what `awaitUpdates` throws, after how far they came was written to stderr; Stopped, which says it itself.
 */
export async function waitFor(
  program: ConnectedProgram,
  ids: readonly number[],
  what: Named | null,
): Promise<StateCounts> {
  const { awaitUpdates } = await import('../../payments/write/await-updates.ts');
  const progress = makeBatchProgress(ids.length, program);
  const waiting = awaitUpdates({ ...program, api: program.clients.payments }, ids, {
    concurrency: writerConcurrency(program.rateLimit),
    signal: program.lifetime.signal,
    onProgress: progress.show,
  });
  try {
    return await waiting.finally(() => progress.finish());
  } catch (error) {
    const reached = await describeReached(program, ids, what);
    if (error instanceof Stopped) throw error.saying(reached);
    printError(what === null ? reached : `${what.name}: ${reached}`);
    throw error;
  }
}

async function describeReached(
  program: ConnectedProgram,
  ids: readonly number[],
  what: Named | null,
): Promise<string> {
  // The database may be away; the error that ended the waiting is the one to report.
  const counts = await countStates(program.db, ids).catch(() => null);
  const reached = counts === null ? 'how far they came cannot be read now' : describeCounts(counts);
  if (counts !== null && counts.pending === undefined) return reached;
  const cancel =
    what === null
      ? ''
      : `; ${commandFor(program.name, `affiliate-mirror ${what.group} cancel ${what.name}`)} takes back those that were not sent yet`;
  return `${reached}; those pending stay queued: the next command with --wait goes on there, and so does a running worker${cancel}`;
}

interface BatchProgressView {
  show(counts: StateCounts): void;
  /** Removes the line. Idempotent: yes. */
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

/** Returns the view of commissions that are read; at none it begins again. */
export function makeReadProgress(session: Parameters<typeof makeBatchProgress>[1]) {
  let view: BatchProgressView | null = null;
  return {
    show(read: number, total: number): void {
      if (read === 0) {
        view?.finish();
        view = makeBatchProgress(total, session);
      } else view?.show({ pending: total - read });
    },
    finish: () => view?.finish(),
  };
}
