// The growth of a database, made up.

import type { Growth } from '../../src/reports/read-growth.ts';

/** Returns one that never ends, unless it is full after so many days. */
export function makeGrowth(fullInDays: number | null = null): Growth {
  return {
    tables: [],
    bytes: 1e9,
    bytes_per_year: 1e9,
    measured_since: '2026-01-01T00:00:00Z',
    disk: {
      source: 'limit',
      free_bytes: 1e9,
      full_at: fullInDays === null ? null : '2026-01-02T00:00:00Z',
      full_in_days: fullInDays,
    },
  };
}
