// Which savepoints the program sets: an insertion without a comparison is made under one.

import pg from 'pg';
import { vi } from 'vitest';

/**
 * Returns how many savepoints have been set since the call, and how many of them were undone. The test restores what
 * vi.spyOn replaced.
 */
export function watchSavepoints(): () => { begun: number; undone: number } {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  return () => {
    const texts = spy.mock.calls.map(([query]) => (typeof query === 'string' ? query : ''));
    return {
      begun: texts.filter((text) => text.startsWith('savepoint')).length,
      undone: texts.filter((text) => text.startsWith('rollback to')).length,
    };
  };
}
