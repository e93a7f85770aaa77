// Waits until requests have ended, and applies them itself meanwhile, so that no worker is needed.

import { sleep, sleepOrAbort } from '../../base/sleep.ts';
import type { UpdateState } from '../../contract/payment-request.ts';
import { countStates } from '../select-requests.ts';
import { applyUpdates, type WriterDeps, type WriterTiming } from './apply-updates.ts';
import { makePayoutsUnderWay } from './payouts-under-way.ts';

export type StateCounts = Readonly<Partial<Record<UpdateState, number>>>;

export interface AwaitOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly timing?: Partial<WriterTiming>;
  /** Called several times a second, and once at the end. */
  readonly onProgress?: (counts: StateCounts) => void;
}

/** Between two counts of the states. */
const COUNT_INTERVAL_MS = 300;

/**
 * Returns how many of the requests ended in each state, once none is pending. Meanwhile other due requests are applied
 * as well, and changes that were sent by then are awaited.
 *
 * Throws: the errors of `applyUpdates`; if some are still pending once all that is due was tried, the database's
 * refusal of a claim, since an earlier request may hold these up; the errors of counting and of `onProgress`, once sent
 * changes are answered.
 */
export async function awaitUpdates(
  deps: WriterDeps,
  ids: readonly number[],
  options: AwaitOptions,
): Promise<StateCounts> {
  const { signal, onProgress, ...writerOptions } = options;
  const writerDeps = { ...deps, underWay: makePayoutsUnderWay(deps) };
  const count = async () => {
    const counts = await countStates(deps.db, ids);
    onProgress?.(counts);
    return counts;
  };
  for (;;) {
    const enough = new AbortController();
    const refused: Error[] = [];
    const applied = applyUpdates(writerDeps, {
      ...writerOptions,
      signal,
      enough: enough.signal,
      onRefused: (_, error) => refused.push(error),
    });
    const over = new AbortController();
    const applying = applied.finally(() => over.abort());
    // Its failure is handled below.
    applying.catch(() => undefined);
    try {
      let counts = await count();
      while (!over.signal.aborted && counts.pending !== undefined) {
        await sleepOrAbort(COUNT_INTERVAL_MS, over.signal);
        counts = await count();
      }
      if (counts.pending === undefined) {
        enough.abort(ENOUGH);
        await applying.catch((error: unknown) => {
          if (error !== ENOUGH) throw error;
        });
        return counts;
      }
    } catch (error) {
      // The caller closes the client next, which must not cut off a change that was sent.
      enough.abort(ENOUGH);
      await applying.catch(() => undefined);
      throw error;
    }
    await applying;
    if (refused[0] !== undefined) throw refused[0];
    await sleep(COUNT_INTERVAL_MS);
  }
}

const ENOUGH = new Error('the requests have ended');
