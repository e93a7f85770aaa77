// Reads commissions by their identifiers, beside a walk of their list: those that the list did not have.
//
// A 404 says that a commission is gone, but only from a program that answers such requests at all: where none of those
// that were asked for is there, one that the list had is asked for as well, and must be.

import { readNow } from '../db/clock.ts';
import { ApiRejected, ContractViolation } from '../errors.ts';
import { findMetCommission } from '../mirror/open-commissions.ts';
import type { ObservedPage } from '../records/read-page.ts';
import type { RunLoader } from './run-loader.ts';
import type { Gone, SyncDeps, WalkInput } from './walk.ts';

/** How many answers are loaded together. */
const BATCH = 20;

type Answer = ObservedPage | 'gone' | 'unclear';

export interface ReadById {
  /** Those that the program no longer has; null where there is none. */
  readonly gone: Gone | null;
  /** How many are neither known to be gone nor to be there: their answer cannot be read, or a 404 is not believed. */
  readonly unclear: number;
}

/**
 * Returns what became of the commissions. Those that are there are loaded, and so are met by the run. Sends a request
 * for each, and at most one more.
 */
export async function readById(
  deps: SyncDeps,
  { loader, signal }: Pick<WalkInput, 'signal'> & { loader: RunLoader },
  ids: readonly string[],
): Promise<ReadById> {
  const beganAt = await readNow(deps.db);
  const gone: string[] = [];
  let isAnswered = false;
  let unclear = 0;
  let found: ObservedPage[] = [];
  const load = async () => {
    if (found.length > 0) await loader.loadSingle(found);
    found = [];
  };
  for (const id of ids) {
    const answer = await ask(deps, { loader, signal }, id);
    if (answer === 'gone') gone.push(id);
    else if (answer === 'unclear') unclear += 1;
    else {
      isAnswered = true;
      found.push(answer);
    }
    if (found.length >= BATCH) await load();
  }
  await load();
  if (gone.length === 0) return { gone: null, unclear };
  if (!isAnswered) {
    const there = await findMetCommission(deps.db, loader.seen);
    const proof = there === null ? 'gone' : await ask(deps, { loader, signal }, there);
    if (typeof proof === 'string') {
      deps.log.warn({ commission: there }, 'sync.not_found_not_believed');
      return { gone: null, unclear: unclear + gone.length };
    }
  }
  return { gone: { ids: gone, observedAt: beganAt }, unclear };
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
    if (error instanceof ApiRejected) return error.status === 404 ? 'gone' : 'unclear';
    if (error instanceof ContractViolation) return 'unclear';
    throw error;
  }
}
