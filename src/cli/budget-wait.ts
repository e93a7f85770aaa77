// What a person reads while requests wait for the request budget.

import type { BudgetWait } from '../budget/waits.ts';

export interface BudgetWaitNote {
  /** For the budget, with each wait for a permit. */
  readonly note: (wait: BudgetWait) => void;
  /** Returns what is waited for; null where nothing is, or it is over before anybody reads it. */
  read(): string | null;
}

/** Shorter waits are how a limit is kept, and no news. */
const LONG_ENOUGH_MS = 1_000;
/** Whoever waits without knowing for how long asks again within that time. */
const NEWS_MS = 2_000;

/** Returns the note, on which nothing is written yet. */
export function makeBudgetWaitNote(): BudgetWaitNote {
  let last: (BudgetWait & { readonly atMs: number }) | null = null;
  return {
    note(wait) {
      last = { ...wait, atMs: performance.now() };
    },
    read() {
      if (last === null) return null;
      const sinceMs = performance.now() - last.atMs;
      const words = 'waiting for the request budget';
      if (last.goesOnInMs === null) return sinceMs < NEWS_MS ? words : null;
      const leftMs = last.goesOnInMs - sinceMs;
      return leftMs < LONG_ENOUGH_MS ? null : `${words}, ${Math.ceil(leftMs / 1000)} s`;
    },
  };
}
