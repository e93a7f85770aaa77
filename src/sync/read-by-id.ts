// Reads commissions or payouts that a walk of their list did not meet, by their identifiers.
//
// A 404 says that a record is gone only if the API answers such requests at that time: after each 404, a record that
// exists is asked for as well. If that is not found either, no 404 of this reading is believed any more.

import { isGone } from '../api/refusal.ts';
import { AnswerStored, ApiRejected, ContractViolation } from '../base/errors.ts';
import type { SingleResource } from '../contract/resources.ts';
import { readNow } from '../db/clock.ts';
import { decodePage, type ParsedRecords } from '../decode/decode-page.ts';
import { findMet } from '../mirror/find-missing.ts';
import type { Gone, OpenRun } from './open-run.ts';

/** Answers that are loaded together; after so many requests at the latest the run says that it is alive. */
const BATCH = 20;

type ReadingById = Pick<OpenRun, 'api' | 'db' | 'log' | 'decoding' | 'loader' | 'signal'>;

type Answer = ParsedRecords | 'gone' | 'refused' | 'unreadable';

export interface ReadById {
  /** Records that the affiliate program no longer has; null if there is none. */
  readonly gone: Gone | null;
  /** Records that the API answers with a success that cannot be read: it seems to have them. */
  readonly unreadable: readonly string[];
  /** How many are neither known to be gone nor to exist: unreadable ones, and refusals that are not believed. */
  readonly unclear: number;
}

/**
 * Looks for the records, and loads those that exist, so that the run has met them. Sends a request for each, and
 * one more for each that seems to be gone.
 */
export async function readById(
  reading: ReadingById,
  resource: SingleResource,
  ids: readonly string[],
): Promise<ReadById> {
  const { db, decoding, loader } = reading;
  const beganAt = await readNow(db);
  const gone: string[] = [];
  const unreadable: string[] = [];
  let isBelieved = true;
  let refused = 0;
  let found: ParsedRecords[] = [];
  const load = async () => {
    const contents = found.map((record) => ({ content: decodePage(decoding, [record]), reference: null }));
    if (contents.length > 0) await loader.load(contents, undefined, 0);
    found = [];
  };
  for (const [index, id] of ids.entries()) {
    const answer = await ask(reading, resource, id);
    if (answer === 'gone') {
      isBelieved = isBelieved && (await isAnother(reading, resource));
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

/** Returns whether the API finds a record that it is known to have. */
async function isAnother(reading: ReadingById, resource: SingleResource): Promise<boolean> {
  const { db, log, loader } = reading;
  const there = await findMet(db, resource, loader.seen);
  const isThere = there !== null && typeof (await ask(reading, resource, there)) === 'object';
  if (!isThere) log.warn({ resource, record_id: there }, 'sync.not_found_not_believed');
  return isThere;
}

async function ask(
  { api, loader, signal }: ReadingById,
  resource: SingleResource,
  id: string,
): Promise<Answer> {
  try {
    const options = { onRequest: loader.countRequest, ...(signal && { signal }) };
    const read =
      resource === 'payouts' ? await api.getPayout(id, options) : await api.getCommission(id, options);
    return { observedAt: read.askedAt, records: ['payout' in read ? read.payout : read.commission] };
  } catch (error) {
    if (isGone(error)) return 'gone';
    if (error instanceof ApiRejected || error instanceof AnswerStored) return 'refused';
    if (error instanceof ContractViolation) return 'unreadable';
    throw error;
  }
}
