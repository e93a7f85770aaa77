// Tells a program that is down from a single request that cannot succeed, by asking for the shortest list.

import type { ApiClient } from '../api/client.ts';
import { ApiThrottled, ApiUnavailable, ApiUnreachable, ContractViolation } from '../errors.ts';

export interface ProgramHealth {
  /** Call whenever the program answered as it should. */
  noteAnswer(): void;
  /**
   * Returns whether the program answers now: asks for the shortest list there is, once for all callers at the same
   * time.
   *
   * Throws: ApiUnauthorized, ApiRejected: it is there, and refuses the request. The signal's reason when aborted.
   */
  isUp(signal: AbortSignal): Promise<boolean>;
  /** Returns whether the program has answered as it should since it was last found to be down. */
  isProven(): boolean;
  /** Call where the program is known to be down without asking. */
  noteDown(): void;
}

const DOWN = [ApiUnreachable, ApiUnavailable, ApiThrottled, ContractViolation];

/** Returns the health as known by one writer; nothing is known at first. */
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
