// Reads commissions for the dry run, the comparison with the books and the polls. A refusal is a result here, by the
// rules of the writer.

import { pMapIterable } from 'p-map';
import type { ApiClient } from '../api/client.ts';
import { ApiRejected, ApiUnavailable, ApiUnreachable, ContractViolation } from '../base/errors.ts';
import type { Commission } from '../contract/commission.ts';
import type { Payout } from '../contract/payout.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { type AnsweredIds, commissionIds, payoutIds } from '../mirror/account.ts';
import { type Ending, type Refusal, refusalOf } from './judge-update.ts';
import { makeProgramHealth, type ProgramHealth } from './program-health.ts';

export type LookedUp =
  | { readonly commission: Commission; readonly refusal: null; readonly askedAt: Timestamp }
  | {
      readonly commission: null;
      readonly refusal: Refusal;
      /** The refusal without the API's own words. */
      readonly reason: string;
      readonly askedAt: Timestamp;
    };

/**
 * Returns the commission, or the API's refusal if it answers others: that takes one more request at most, and two more
 * if nothing is known of the API's health.
 *
 * Throws: ProgramChanged; ApiRejected if the API refuses everything (the address is wrong); the client's other errors,
 * also if the API turns out to be down; the signal's reason when aborted.
 */
export async function lookUp(
  { client, health }: { client: ApiClient; health: ProgramHealth },
  id: string,
  signal: AbortSignal,
): Promise<LookedUp> {
  const read = async () => {
    const { commission, askedAt } = await client.getCommission(id, { signal });
    return { record: commission, ids: commissionIds(commission), askedAt };
  };
  const { record: commission, ...found } = await askFor(health, read, signal);
  return { commission, ...found } as LookedUp;
}

/** The same of a payout, as one of several: see makeLookUpEach. */
export type LookedUpPayout =
  | { readonly payout: Payout; readonly refusal: null; readonly askedAt: Timestamp }
  | { readonly payout: null; readonly refusal: Refusal | Unreadable };

/** Reads once more as long as the refusal may be the last of an outage. */
async function askFor<T>(
  health: ProgramHealth,
  read: () => Promise<{ readonly record: T; readonly ids: AnsweredIds; readonly askedAt: Timestamp }>,
  signal: AbortSignal,
) {
  for (;;) {
    const mark = health.mark();
    try {
      const { record, ids, askedAt } = await read();
      health.noteAnswer(askedAt);
      await health.confirmAccount(ids, signal);
      return { record, refusal: null, askedAt };
    } catch (error) {
      if (!(error instanceof ApiRejected) || signal.aborted) throw error;
      const meaning = await health.judgeRefusal({ mark, answeredAt: error.answeredAt }, signal);
      if (meaning === 'down') {
        throw new ApiUnreachable('the API is down: it does not list affiliates either', { cause: error });
      }
      if (meaning === 'believed')
        return {
          record: null,
          refusal: refusalOf(error),
          reason: error.message,
          askedAt: error.askedAt,
        };
    }
  }
}

export interface Unreadable extends Ending {
  readonly state: 'failed';
}

export type LookedUpEach = LookedUp | { readonly commission: null; readonly refusal: Unreadable };

/** Errors that may be about a single commission; the client has retried by then. */
const OF_ONE = [ApiUnavailable, ApiUnreachable, ContractViolation];

/** So many errors in a row are not about single commissions: each takes the client's tries and their waits. */
const MOST_IN_A_ROW = 10;

/**
 * Returns the function that reads commissions, one by one or concurrently, for a report on each of them: a commission
 * that the API cannot show is a result among the others, as it is to the writer.
 *
 * Throws (from it): the errors of lookUp, unless the API answers others.
 */
export function makeLookUpEach(
  { client, db }: { client: ApiClient; db: Database },
  signal: AbortSignal,
): (id: string) => Promise<LookedUpEach> {
  const health = makeProgramHealth({ client, db });
  const each = makeEach(health, (id) => lookUp({ client, health }, id, signal), signal);
  return async (id) => {
    const found = await each(id);
    return 'found' in found ? found.found : { commission: null, ...found };
  };
}

/** Returns the same function for payouts. */
export function makeLookUpPayout(
  { client, db }: { client: ApiClient; db: Database },
  signal: AbortSignal,
): (id: string) => Promise<LookedUpPayout> {
  const health = makeProgramHealth({ client, db });
  const read = async (id: string) => {
    const { payout, askedAt } = await client.getPayout(id, { signal });
    return { record: payout, ids: payoutIds(payout), askedAt };
  };
  const each = makeEach(health, (id) => askFor(health, () => read(id), signal), signal);
  return async (id) => {
    const found = await each(id);
    if (!('found' in found)) return { payout: null, ...found };
    const { record: payout, refusal, askedAt } = found.found;
    return payout === null ? { payout, refusal } : { payout, refusal: null, askedAt };
  };
}

function makeEach<T>(health: ProgramHealth, look: (id: string) => Promise<T>, signal: AbortSignal) {
  let inARow = 0;
  return async (id: string): Promise<{ readonly found: T } | { readonly refusal: Unreadable }> => {
    try {
      const found = await look(id);
      inARow = 0;
      return { found };
    } catch (error) {
      inARow += 1;
      const isOfOne = OF_ONE.some((kind) => error instanceof kind) && inARow < MOST_IN_A_ROW;
      if (signal.aborted || !isOfOne || !(await health.isUp(signal))) throw error;
      const outcome = (error as Error).message;
      return { refusal: { kind: 'end', state: 'failed', outcome, note: null } };
    }
  };
}

/**
 * Yields the results in the order of the items, with at most `concurrency` calls at once. The first call is awaited
 * before the others begin: an error that every item would meet occurs once.
 *
 * Throws: the error of a call, in the order of the items, once the running calls have ended.
 */
export async function* mapInOrder<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  call: (item: Item) => Promise<Result>,
) {
  const [first, ...others] = items;
  if (first === undefined) return;
  yield await call(first);
  const underWay = new Set<Promise<Result>>();
  try {
    const begin = (item: Item) => {
      const result = call(item);
      underWay.add(result);
      return result.finally(() => underWay.delete(result));
    };
    yield* pMapIterable(others, begin, { concurrency });
  } finally {
    await Promise.allSettled(underWay);
  }
}
