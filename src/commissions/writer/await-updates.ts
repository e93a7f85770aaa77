// Waits until requests have ended, and applies them itself meanwhile: so it ends with a worker and without one.

import { sql } from 'kysely';
import type { UpdateState } from '../../contract/payment-request.ts';
import type { Database } from '../../db/database.ts';
import { sleep, sleepOrAbort } from '../../sleep.ts';
import { countStates } from '../select-requests.ts';
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
 * Throws: what `drainUpdates` throws; the database's refusal of one of the requests, or of an earlier one that has to
 * end before it, after the others were tried; what looking or `onProgress` throws, once what was sent is answered.
 */
export async function awaitUpdates(
  deps: DrainDeps,
  ids: readonly number[],
  options: AwaitOptions,
): Promise<StateCounts> {
  const { signal, onProgress, ...drainOptions } = options;
  const look = async () => {
    const counts = await countStates(deps.db, ids);
    onProgress?.(counts);
    return counts;
  };
  for (;;) {
    const enough = new AbortController();
    const refused = new Map<number, Error>();
    const drained = drainUpdates(deps, {
      ...drainOptions,
      signal,
      enough: enough.signal,
      onRefused: (id, error) => refused.set(id, error),
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
    const refusal = refused.get((await findBlocking(deps.db, ids, [...refused.keys()])) ?? 0);
    if (refusal !== undefined) throw refusal;
    await sleep(LOOK_INTERVAL_MS);
  }
}

/** Returns the first of the refused requests that one of these waits for, or is; null where none does. */
async function findBlocking(
  db: Database,
  ids: readonly number[],
  refused: readonly number[],
): Promise<number | null> {
  if (refused.length === 0) return null;
  const { rows } = await sql<{ id: number }>`
    select earlier.id
    from commission_updates earlier
    join commission_updates request on request.commission_id = earlier.commission_id and request.id >= earlier.id
    where earlier.id = any(${refused}::bigint[]) and earlier.state = 'pending'
      and request.id = any(${ids}::bigint[]) and request.state = 'pending'
    order by earlier.id
    limit 1
  `.execute(db);
  return rows[0]?.id ?? null;
}

const ENOUGH = new Error('what was waited for has ended');
