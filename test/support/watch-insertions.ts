// Which insertions without a comparison the program sends: those of a first load.

import pg from 'pg';
import { vi } from 'vitest';

/**
 * Returns how many have been sent since the call, and how many of them were refused, once all are answered. The test
 * restores what vi.spyOn replaced.
 */
export function watchInsertions(): () => { sent: number; refused: number } {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  return () => {
    const answers = spy.mock.settledResults.filter((_, index) => isInsertion(spy.mock.calls[index]?.[0]));
    return {
      sent: answers.length,
      refused: answers.filter(({ type }) => type === 'rejected').length,
    };
  };
}

function isInsertion(query: unknown): boolean {
  return typeof query === 'string' && query.startsWith('with inserted as');
}
