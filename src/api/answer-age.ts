// By how much an answer is older than its question. A cache in front of the API may answer from its store, also what it
// is asked for with cache-control: no-cache. Two headers show that.
//
// `Age` (RFC 9111, 5.1): for so many whole seconds, rounded down, the API has not confirmed the answer. Where that is
// no longer than the answer took, the API may have given it after the question. There is no other tolerance.
//
// `Date`: some caches send only that, as the API gave it. It is of the API's clock, so it is compared with ours first.
// Where it is older than the question by more than CLOCKS_MS, either a cache answered, or one of the clocks is wrong.
// One request for what no cache has stored tells which: its `Date` shows how far the API's clock is behind ours. The
// least difference of the answers that came so far would not do in place of it: a command that finds every page in a
// store has only those to learn from, and would take the age of the store for that of a clock.
// A cache that sends neither header as it should (nginx makes a `Date` of its own) cannot be found out.

import { randomUUID } from 'node:crypto';
import { RESOURCES } from '../contract/resources.ts';
import { readDate, readSeconds } from '../contract/retry-after.ts';
import { AnswerStored } from '../errors.ts';
import { isFailure } from './answer.ts';
import { listQueryString } from './request-parameters.ts';
import type { ApiRequest, Outcome } from './send-request.ts';

type Answered = Pick<Extract<Outcome, { kind: 'answered' }>, 'headers' | 'sentAtMs' | 'headersAtMs'>;

/** Between the clocks of two replicas of the API, and the whole second to which a `Date` is cut. */
const CLOCKS_MS = 5000;
/** For so long the API's clock is not asked for again. */
const LEARNT_FOR_MS = 60_000;
/** A time so long ago can still be spelled, and an answer that is older is believed no less. */
const MOST_AGE_MS = 365 * 24 * 60 * 60 * 1000;

/**
 * Returns by how many milliseconds the answer to a read is older than its question, at most; 0 where nothing shows that
 * it is. `askUnstored` returns the answer to `unstoredRequest`, null where none came.
 */
export type MeasureAge = (answer: Answered, askUnstored: () => Promise<Answered | null>) => Promise<number>;

/** Returns the function for one API. Throws: what `askUnstored` throws. */
export function makeMeasureAge(): MeasureAge {
  let behindMs = 0;
  let learntAtMs = Number.NEGATIVE_INFINITY;
  const ageByDate = ({ headers, sentAtMs }: Answered): number => {
    const date = readDate(headers['date']);
    const ageMs = date === null ? 0 : sentAtMs - date - behindMs;
    return ageMs > CLOCKS_MS ? ageMs + CLOCKS_MS : 0;
  };
  return async (answer, askUnstored) => {
    const byAge = ageByAge(answer);
    if (byAge > 0) return byAge;
    if (ageByDate(answer) > 0 && performance.now() - learntAtMs > LEARNT_FOR_MS) {
      const unstored = await askUnstored();
      const date = readDate(unstored?.headers['date']);
      if (unstored !== null && date !== null) {
        behindMs = unstored.headersAtMs - date;
        learntAtMs = performance.now();
      }
    }
    return Math.min(ageByDate(answer), MOST_AGE_MS);
  };
}

function ageByAge({ headers, sentAtMs, headersAtMs }: Answered): number {
  const ageMs = readSeconds(headers['age']) ?? 0;
  const tookMs = headersAtMs - sentAtMs;
  return ageMs > tookMs ? Math.min(ageMs + 1000 - tookMs, MOST_AGE_MS) : 0;
}

/**
 * Returns where the answer may be used: it is no older than its question, or a failure that passes, or a success that
 * its caller takes as old as it is.
 *
 * Throws: AnswerStored for any other.
 */
export function refuseStored(
  { method, path }: ApiRequest,
  status: number,
  { ageMs, takesStored }: { ageMs: number; takesStored: boolean },
): void {
  if (ageMs === 0 || status === 429 || isFailure(status) || (takesStored && status < 300)) return;
  throw new AnswerStored(
    `${method} ${path} was answered by a cache in front of the API, from its store: the answer is ${Math.round(ageMs / 1000)} s older than the question; have it pass on what is asked for with cache-control: no-cache`,
  );
}

/**
 * Returns a request that no cache has the answer to: it has a parameter of its own, which the API ignores.
 *
 * Source: contract, Paging.
 */
export function unstoredRequest(): ApiRequest {
  const query = `${listQueryString({ page: 1, limit: 1 })}&unstored=${randomUUID()}`;
  return { method: 'GET', path: RESOURCES.affiliates.path, query, body: null };
}
