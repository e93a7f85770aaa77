// Tells a program that is down from a request that alone cannot succeed. Knows one cheap question to ask; refuses to
// know any request.

import type { ApiClient } from '../api/client.ts';
import { ApiThrottled, ApiUnavailable, ApiUnreachable, ContractViolation } from '../errors.ts';

export interface ProgramHealth {
  /** To be called whenever the program answered as it should. */
  noteAnswer(): void;
  /**
   * Gives back whether the program answers now: asks for the shortest list there is, once for everyone who wants to
   * know at the same time.
   *
   * Throws: ApiUnauthorized, ApiRejected: it is there, and wants nothing of us. The signal's reason when aborted.
   */
  isUp(signal: AbortSignal): Promise<boolean>;
  /** Whether the program ever answered as it should, since the last time that it was found to be down. */
  isProven(): boolean;
  /** To be called where the program is known to be down without asking. */
  noteDown(): void;
}

const DOWN = [ApiUnreachable, ApiUnavailable, ApiThrottled, ContractViolation];

/** Gives back the health as known by one writer: nothing yet. */
export function makeProgramHealth(deps: { client: ApiClient }): ProgramHealth {
  let isProven = false;
  let asking: Promise<boolean> | null = null;

  async function ask(signal: AbortSignal): Promise<boolean> {
    try {
      await deps.client.list('affiliates', { page: 1, limit: 1 }, { signal });
      isProven = true;
      return true;
    } catch (error) {
      if (!DOWN.some((kind) => error instanceof kind)) throw error;
      isProven = false;
      return false;
    } finally {
      asking = null;
    }
  }
  return {
    noteAnswer: () => {
      isProven = true;
    },
    noteDown: () => {
      isProven = false;
    },
    isProven: () => isProven,
    isUp: (signal) => {
      asking ??= ask(signal);
      return asking;
    },
  };
}
