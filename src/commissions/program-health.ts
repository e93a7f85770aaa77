// Tells a program that is down from a single request that cannot succeed, by asking for the shortest list.
//
// A refusal counts only between two good answers: a front end (a load balancer, an ingress) that has lost the program
// behind it says 404 to everything for a while, and may find it again right after that. The answer before it must be
// there before the request is sent, with no outage seen since: what answers beside it may have been asked for after the
// program was found again. The answer after it must be to something that was asked for once the refusal was there:
// what answers beside it may have been answered before the program was lost. And it counts only from the account that
// the mirror knows (see mirror/account.ts): another one says 404 to everything that this mirror asks for.

import type { ApiClient } from '../api/client.ts';
import type { Commission } from '../contract/commission.ts';
import { type Timestamp, toMicros } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import {
  AnswerStored,
  ApiRejected,
  ApiThrottled,
  ApiUnavailable,
  ApiUnreachable,
  ContractViolation,
} from '../errors.ts';
import { type AnsweredIds, affiliateIds, commissionIds, makeAccount } from '../mirror/account.ts';

/** What is known of the program before a request is sent: which of its times without an outage this is, if any. */
export type HealthMark = number | null;

/**
 * What a refusal says: it is the program's answer to that request; the request is to be made again, since the refusal
 * may be the last of an outage; or the program is down.
 */
export type RefusalMeaning = 'believed' | 'again' | 'down';

export interface ProgramHealth {
  /** Call whenever the program answered as it should, with when it was asked. */
  noteAnswer(askedAt: Timestamp): void;
  /**
   * Resolves once it is known that the API serves the mirror's account, for which this commission, as it was just
   * answered, is looked up. To be called before anything is concluded from it.
   *
   * Throws: ProgramChanged; what the client and the database throw.
   */
  confirmAccount(commission: Commission, signal: AbortSignal): Promise<void>;
  /**
   * Returns whether the program answers now: asks for the shortest list there is, once for all callers at the same
   * time. An answer of something in front of the program is an outage where the program has answered before.
   *
   * Throws: ApiUnauthorized, ApiRejected: it is there, and refuses the request. The signal's reason when aborted.
   */
  isUp(signal: AbortSignal): Promise<boolean>;
  /** Returns whether the program has answered as it should since it was last found to be down. */
  isProven(): boolean;
  /** Returns what is known now; to be called before a request is sent, for `judgeRefusal`. */
  mark(): HealthMark;
  /**
   * Returns what a refusal says that was there at that time. Asks as `isUp` does, unless a good answer to something
   * that was asked later is there already.
   *
   * Throws: what `isUp` throws; ProgramChanged where none of the records that the mirror has is answered.
   */
  judgeRefusal(
    refusal: { readonly mark: HealthMark; readonly answeredAt: Timestamp },
    signal: AbortSignal,
  ): Promise<RefusalMeaning>;
  /** Call where the program is known to be down without asking. */
  noteDown(): void;
}

/** Whatever fails is a sign of an outage, also where the next attempt would succeed. */
const ONCE = { most: 1 };

const DOWN = [ApiUnreachable, ApiUnavailable, ApiThrottled, ContractViolation, AnswerStored];

/** Returns the health as known by one reader or writer; nothing is known at first. */
export function makeProgramHealth({ client, db }: { client: ApiClient; db: Database }): ProgramHealth {
  const account = makeAccount({ api: client, db });
  let isProven = false;
  let outages = 0;
  /** The latest time at which something was asked for that was answered; null before the first answer. */
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
    confirmAccount: (commission, signal) => account.confirm([commissionIds(commission)], { signal }),
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
