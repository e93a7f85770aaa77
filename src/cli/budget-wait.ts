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
/** Whoever waits asks once a second whether it may go on: where nothing was said for longer, it went on. */
const NEWS_MS = 2_000;

/** Returns the note, on which nothing is written yet. */
export function makeBudgetWaitNote(): BudgetWaitNote {
  let last: (BudgetWait & { readonly atMs: number; readonly sinceMs: number }) | null = null;
  const isOver = (nowMs: number) =>
    last === null || nowMs > last.atMs + Math.max(NEWS_MS, last.goesOnInMs ?? 0);
  return {
    note(wait) {
      const atMs = performance.now();
      last = { ...wait, atMs, sinceMs: last === null || isOver(atMs) ? atMs : last.sinceMs };
    },
    read() {
      const nowMs = performance.now();
      if (last === null || isOver(nowMs)) return null;
      const { goesOnInMs, atMs, sinceMs } = last;
      const leftMs = goesOnInMs === null ? null : atMs + goesOnInMs - nowMs;
      if ((leftMs ?? 0) < LONG_ENOUGH_MS && nowMs - sinceMs < LONG_ENOUGH_MS) return null;
      const words = 'waiting for the request budget';
      return leftMs === null ? words : `${words}, ${Math.ceil(Math.max(1, leftMs / 1000))} s`;
    },
  };
}
