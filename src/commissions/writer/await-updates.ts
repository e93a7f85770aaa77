// Waits until requests have ended, and applies them itself meanwhile: so it ends with a worker and without one.

import { sleep, sleepOrAbort } from '../../sleep.ts';
import { countStates } from '../read-payment-ledger.ts';
import type { UpdateState } from '../update-request.ts';
import { type DrainDeps, type DrainTiming, drainUpdates } from './drain-updates.ts';

export type StateCounts = Readonly<Partial<Record<UpdateState, number>>>;

export interface AwaitOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly timing?: Partial<DrainTiming>;
  /** Called now and then, and once at the end. */
  readonly onProgress?: (counts: StateCounts) => void;
}

/** How often the payment ledger is asked how far the requests are. */
const LOOK_INTERVAL_MS = 300;

/**
 * Returns how many of the requests ended in each state, once none is pending. Whatever else is due is applied as
 * well while that takes, and what was sent by then is waited for.
 *
 * Throws: what `drainUpdates` throws; the database's refusal of one of the requests, after the others were tried; what
 * looking or `onProgress` throws, once what was sent is answered.
 */
export async function awaitUpdates(
  deps: DrainDeps,
  ids: readonly number[],
  options: AwaitOptions,
): Promise<StateCounts> {
  const { signal, onProgress, ...drainOptions } = options;
  const waitedFor = new Set(ids);
  const look = async () => {
    const counts = await countStates(deps.db, ids);
    onProgress?.(counts);
    return counts;
  };
  for (;;) {
    const enough = new AbortController();
    let refusal: Error | null = null;
    const drained = drainUpdates(deps, {
      ...drainOptions,
      signal,
      enough: enough.signal,
      onRefused: (id, error) => {
        if (waitedFor.has(id)) refusal ??= error;
      },
    });
    const over = new AbortController();
    const draining = drained.finally(() => over.abort());
    // Its failure is handled below.
    draining.catch(() => undefined);
    try {
      let counts = await look();
      while (!over.signal.aborted && counts.pending !== undefined) {
        await sleepOrAbort(LOOK_INTERVAL_MS, over.signal);
        counts = await look();
      }
      if (counts.pending === undefined) {
        enough.abort(ENOUGH);
        await draining.catch((error: unknown) => {
          if (error !== ENOUGH) throw error;
        });
        return counts;
      }
    } catch (error) {
      // Its caller closes the client next, which must not cut off a change that was sent.
      enough.abort(ENOUGH);
      await draining.catch(() => undefined);
      throw error;
    }
    await draining;
    if (refusal !== null) throw refusal;
    await sleep(LOOK_INTERVAL_MS);
  }
}

const ENOUGH = new Error('what was waited for has ended');
