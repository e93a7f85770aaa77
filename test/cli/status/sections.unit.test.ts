// The section `growth` of the status, as people read it.

import { expect, test } from 'vitest';
import { renderGrowth } from '../../../src/cli/status/sections.ts';
import type { Growth } from '../../../src/reports/read-growth.ts';

const GROWTH: Growth = {
  tables: [
    {
      table_name: 'record_history',
      rows: 365_000,
      bytes: 140_000_000,
      index_bytes: 0,
      rows_per_day: 999.6,
      bytes_per_year: 139_600_000,
      keep_days: null,
      pruned_before: null,
    },
    {
      table_name: 'sync_runs',
      rows: 10_000,
      bytes: 3_500_000,
      index_bytes: 0,
      rows_per_day: 291,
      bytes_per_year: 1_250,
      keep_days: 400,
      pruned_before: '2025-01-01T00:00:00Z',
    },
    {
      table_name: 'seen_rows',
      rows: 0,
      bytes: 8_192,
      index_bytes: 0,
      rows_per_day: null,
      bytes_per_year: null,
      keep_days: null,
      pruned_before: null,
    },
  ],
  bytes: 150_000_000,
  bytes_per_year: 139_601_250,
  measured_since: '2026-01-01T00:00:00Z',
  disk: { source: 'limit', free_bytes: 11_000_000, full_at: '2026-03-01T05:00:00Z', full_in_days: 29 },
};

test('large tables with what they gain, and when the disk is full', () => {
  const shown = renderGrowth(GROWTH);
  expect(shown).toMatch(/record_history.* 365,000 .* 140 MB .* 1,000 .* 140 MB .* for ever/);
  expect(shown).toMatch(/sync_runs.* 10,000 .* 3\.5 MB .* 291 .* 1\.3 kB .* 400 days/);
  expect(shown).not.toContain('seen_rows');
  expect(shown).toContain('has 150 MB and gains 140 MB a year, as measured since 2026-01-01 00:00:00Z');
  expect(shown).toContain('11 MB are left of DATABASE_SIZE_LIMIT: full on 2026-03-01 at this rate');
});

test.each<[Partial<Growth['disk']>, string]>([
  [{ source: null, free_bytes: null }, 'is not known: set DATABASE_SIZE_LIMIT'],
  [
    { full_at: null, full_in_days: null },
    '11 MB are left of DATABASE_SIZE_LIMIT: enough for years at this rate',
  ],
  [{ free_bytes: -5, full_in_days: 0 }, 'Nothing is left of DATABASE_SIZE_LIMIT'],
])('a disk with %j', (disk, expected) => {
  expect(renderGrowth({ ...GROWTH, disk: { ...GROWTH.disk, ...disk } })).toContain(expected);
});
