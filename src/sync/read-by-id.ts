// Reads commissions by their identifiers, beside a walk of their list: those that the list did not have.
//
// A 404 says that a commission is gone, but only from a program that answers such requests, and at that time: after
// each, one that is there is asked for as well. Where that is not found either, no 404 of this reading is believed any
// more.

import { isGone } from '../api/refusal.ts';
import { readNow } from '../db/clock.ts';
import { AnswerStored, ApiRejected, ContractViolation } from '../errors.ts';
import { findMetCommission } from '../mirror/open-commissions.ts';
import type { ObservedPage } from '../records/read-page.ts';
import type { RunLoader } from './run-loader.ts';
import type { Gone, SyncDeps, WalkInput } from './walk.ts';

/** How many answers are loaded together; and after so many requests at the latest the run says that it is alive. */
const BATCH = 20;

type Answer = ObservedPage | 'gone' | 'refused' | 'unreadable';

export interface ReadById {
  /** Those that the program no longer has; null where there is none. */
  readonly gone: Gone | null;
  /** Those that the program answers with a success that cannot be read: it seems to have them. */
  readonly unreadable: readonly string[];
  /** How many are neither known to be gone nor to be there: those, and where a refusal is not believed. */
  readonly unclear: number;
}

/**
 * Returns what became of the commissions. Those that are there are loaded, and so are met by the run. Sends a request
 * for each, and one more for each that seems to be gone.
 */
export async function readById(
  deps: SyncDeps,
  { loader, signal }: Pick<WalkInput, 'signal'> & { loader: RunLoader },
  ids: readonly string[],
): Promise<ReadById> {
  const beganAt = await readNow(deps.db);
  const gone: string[] = [];
  const unreadable: string[] = [];
  let isBelieved = true;
  let refused = 0;
  let found: ObservedPage[] = [];
  const load = async () => {
    if (found.length > 0) await loader.loadSingle(found);
    found = [];
  };
  for (const [index, id] of ids.entries()) {
    const answer = await ask(deps, { loader, signal }, id);
    if (answer === 'gone') {
      isBelieved = isBelieved && (await isAnother(deps, { loader, signal }));
      if (isBelieved) gone.push(id);
    }
    if (answer === 'unreadable') unreadable.push(id);
    if (answer === 'refused' || (answer === 'gone' && !isBelieved)) refused += 1;
    if (typeof answer === 'object') found.push(answer);
    if (found.length >= BATCH) await load();
    else if ((index + 1) % BATCH === 0) await loader.saveRequests();
  }
  await load();
  return {
    gone: gone.length === 0 ? null : { ids: gone, observedAt: beganAt },
    unreadable,
    unclear: refused + unreadable.length,
  };
}

/** Returns whether the program has a commission that it is known to have. */
async function isAnother(
  deps: SyncDeps,
  reading: Pick<WalkInput, 'signal'> & { loader: RunLoader },
): Promise<boolean> {
  const there = await findMetCommission(deps.db, reading.loader.seen);
  const isThere = there !== null && typeof (await ask(deps, reading, there)) === 'object';
  if (!isThere) deps.log.warn({ commission: there }, 'sync.not_found_not_believed');
  return isThere;
}

async function ask(
  { api }: SyncDeps,
  { loader, signal }: Pick<WalkInput, 'signal'> & { loader: RunLoader },
  id: string,
): Promise<Answer> {
  try {
    const options = { onRequest: loader.countRequest, ...(signal && { signal }) };
    const { commission, askedAt } = await api.getCommission(id, options);
    return { observedAt: askedAt, records: [commission] };
  } catch (error) {
    if (isGone(error)) return 'gone';
    if (error instanceof ApiRejected || error instanceof AnswerStored) return 'refused';
    if (error instanceof ContractViolation) return 'unreadable';
    throw error;
  }
}
