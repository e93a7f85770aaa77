// Tells a program that is down from a single request that cannot succeed, by asking for the shortest list.
//
// A refusal counts only between two good answers: a front end (a load balancer, an ingress) that has lost the program
// behind it says 404 to everything for a while, and may find it again right after that. The answer after it must be to
// something that was asked for later: what answers beside it may have been asked for before the program was lost.

import type { ApiClient } from '../api/client.ts';
import { isNotFound } from '../api/refusal.ts';
import { type Timestamp, toMicros } from '../contract/timestamp.ts';
import { ApiThrottled, ApiUnavailable, ApiUnreachable, ContractViolation } from '../errors.ts';

/**
 * What a refusal says: it is the program's answer to that request; the request is to be made again, since the refusal
 * may be the last of an outage; or the program is down.
 */
export type RefusalMeaning = 'believed' | 'again' | 'down';

export interface ProgramHealth {
  /** Call whenever the program answered as it should, with when it was asked. */
  noteAnswer(askedAt: Timestamp): void;
  /**
   * Returns whether the program answers now: asks for the shortest list there is, once for all callers at the same
   * time. A 404 for that is an outage where the program has answered before.
   *
   * Throws: ApiUnauthorized, ApiRejected: it is there, and refuses the request. The signal's reason when aborted.
   */
  isUp(signal: AbortSignal): Promise<boolean>;
  /** Returns whether the program has answered as it should since it was last found to be down. */
  isProven(): boolean;
  /**
   * Returns what the refusal of a request says that was asked at that time. Asks as `isUp` does, unless a good answer
   * to something later is there already.
   *
   * Throws: what `isUp` throws.
   */
  judgeRefusal(askedAt: Timestamp, signal: AbortSignal): Promise<RefusalMeaning>;
  /** Call where the program is known to be down without asking. */
  noteDown(): void;
}

const DOWN = [ApiUnreachable, ApiUnavailable, ApiThrottled, ContractViolation];

/** Returns the health as known by one reader or writer; nothing is known at first. */
export function makeProgramHealth(deps: { client: ApiClient }): ProgramHealth {
  let isProven = false;
  /** The latest time at which something was asked for that was answered; null before the first answer. */
  let answered: bigint | null = null;
  let asking: Promise<boolean> | null = null;

  function noteAnswer(askedAt: Timestamp): void {
    const asked = toMicros(askedAt);
    if (answered === null || asked > answered) answered = asked;
    isProven = true;
  }

  async function ask(signal: AbortSignal): Promise<boolean> {
    try {
      noteAnswer((await deps.client.list('affiliates', { page: 1, limit: 1 }, { signal })).askedAt);
      return true;
    } catch (error) {
      const isLost = answered !== null && isNotFound(error);
      if (!isLost && !DOWN.some((kind) => error instanceof kind)) throw error;
      isProven = false;
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
    noteDown: () => {
      isProven = false;
    },
    isProven: () => isProven,
    isUp,
    async judgeRefusal(askedAt, signal) {
      const wasUp = isProven;
      const isAnsweredSince = answered !== null && answered > toMicros(askedAt);
      if (!isAnsweredSince && !(await isUp(signal))) return 'down';
      return wasUp ? 'believed' : 'again';
    },
  };
}
