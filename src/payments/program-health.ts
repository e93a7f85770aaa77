// Tells an API that is down from a single request that cannot succeed, by asking for the shortest list.
//
// A refusal counts only between two good answers: a front end (a load balancer, an ingress) that has lost the API
// behind it says 404 to everything for a while, and may find it again right after that. The answer before must arrive
// before the request is sent, with no outage since: the request of a concurrent answer may have been sent after the API
// was found again. The request of the answer after must be sent once the refusal has arrived: a concurrent answer may
// have been given before the API was lost. And a refusal counts only from the account that the mirror knows (see
// mirror/account.ts): another one says 404 to everything that this mirror asks for.

import type { ApiClient } from '../api/client.ts';
import {
  AnswerStored,
  ApiRejected,
  ApiThrottled,
  ApiUnavailable,
  ApiUnreachable,
  ContractViolation,
} from '../base/errors.ts';
import { type Timestamp, toMicros } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { type AnsweredIds, affiliateIds, makeAccount } from '../mirror/account.ts';

/** The number of the time without an outage in which a request is sent; null if the API has not answered yet. */
export type HealthMark = number | null;

/**
 * A refusal is believed as the API's answer to that request; or the request is made again, since the refusal may be the
 * last of an outage; or the API is down.
 */
export type RefusalMeaning = 'believed' | 'again' | 'down';

export interface ProgramHealth {
  /** Call after every good answer, with the time at which it was asked for. */
  noteAnswer(askedAt: Timestamp): void;
  /**
   * Resolves once it is known that the API serves the mirror's account, by a record that was just answered. To be
   * called before anything is concluded from it.
   *
   * Throws: ProgramChanged; the errors of the client and the database.
   */
  confirmAccount(ids: AnsweredIds, signal: AbortSignal): Promise<void>;
  /**
   * Returns whether the API answers now: asks for the shortest list, once for all concurrent callers. An answer of a
   * proxy in front of the API is an outage if the API has answered before.
   *
   * Throws: ApiUnauthorized, ApiRejected: the API is there, and refuses the request. The signal's reason when aborted.
   */
  isUp(signal: AbortSignal): Promise<boolean>;
  /** Returns whether the API has given a good answer since it was last found to be down. */
  isProven(): boolean;
  /** To be called before a request is sent, for `judgeRefusal`. */
  mark(): HealthMark;
  /**
   * Judges a refusal that arrived at that time. Asks as `isUp` does, unless a later request was answered already.
   *
   * Throws: the errors of `isUp`; ProgramChanged if the API has none of the mirror's records.
   */
  judgeRefusal(
    refusal: { readonly mark: HealthMark; readonly answeredAt: Timestamp },
    signal: AbortSignal,
  ): Promise<RefusalMeaning>;
  /** Call if the API is known to be down without asking. */
  noteDown(): void;
}

/** Any failure is a sign of an outage, even if the next attempt would succeed. */
const ONCE = { most: 1 };

const DOWN = [ApiUnreachable, ApiUnavailable, ApiThrottled, ContractViolation, AnswerStored];

/** Returns the health as one reader or writer knows it; nothing is known at first. */
export function makeProgramHealth({ client, db }: { client: ApiClient; db: Database }): ProgramHealth {
  const account = makeAccount({ api: client, db });
  let isProven = false;
  let outages = 0;
  /** When the latest answered request was sent; null before the first answer. */
  let answered: bigint | null = null;
  let asking: Promise<boolean> | null = null;
  let listed: readonly AnsweredIds[] = [];

  function noteAnswer(askedAt: Timestamp): void {
    const asked = toMicros(askedAt);
    if (answered === null || asked > answered) answered = asked;
    isProven = true;
  }

  function noteDown(): void {
    isProven = false;
    outages += 1;
    account.doubt();
  }

  async function ask(signal: AbortSignal): Promise<boolean> {
    try {
      const page = await client.list('affiliates', { page: 1, limit: 1 }, { signal, attempts: ONCE });
      noteAnswer(page.askedAt);
      listed = [affiliateIds(page)];
      return true;
    } catch (error) {
      const isForeign = error instanceof ApiRejected && !error.isOfProgram;
      if (!(isForeign && answered !== null) && !DOWN.some((kind) => error instanceof kind)) throw error;
      noteDown();
      return false;
    } finally {
      asking = null;
    }
  }

  function isUp(signal: AbortSignal): Promise<boolean> {
    asking ??= ask(signal);
    return asking;
  }

  return {
    noteAnswer,
    noteDown,
    isProven: () => isProven,
    isUp,
    confirmAccount: (ids, signal) => account.confirm([ids], { signal }),
    mark: () => (isProven ? outages : null),
    async judgeRefusal({ mark, answeredAt }, signal) {
      const isAnsweredSince = () => answered !== null && answered > toMicros(answeredAt);
      // The list may have been asked for already, because of an earlier refusal: then it is asked for once more.
      for (let asked = 0; asked < 2 && !isAnsweredSince(); asked += 1) {
        if (!(await isUp(signal))) return 'down';
      }
      if (mark !== outages || !isAnsweredSince()) return 'again';
      await account.confirm(listed, { signal });
      return 'believed';
    },
  };
}
