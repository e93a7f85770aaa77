// The table of several programs, and its line of sums.

import { expect, test } from 'vitest';
import { renderPrograms } from '../../../src/cli/status/programs-table.ts';
import type { ProgramSummary } from '../../../src/reports/program-summary.ts';

const WELL: ProgramSummary = {
  state: 'ok',
  concern: null,
  concerns: 0,
  resources: [],
  as_of: '2026-10-01T12:00:00Z',
  age_seconds: 3600,
  running: ['referrals'],
  payments_waiting: 2,
  payments_needing_attention: 0,
  last_error_code: null,
};

test('the one that cannot be read comes first, with why, and the sums count what was read', () => {
  const shown = renderPrograms([
    { name: 'acme', summary: WELL, problem: null },
    { name: 'beta', summary: null, problem: 'it has no tables' },
    {
      name: 'gamma',
      summary: { ...WELL, age_seconds: null, as_of: null, payments_waiting: 1 },
      problem: null,
    },
  ]);
  expect(shown).toMatch(
    /│ beta .* cannot be read .* it has no tables .*\n.*│ acme .* well .* 1 h 0 min .*\n.*│ gamma .* never synced /,
  );
  expect(shown).toMatch(/^3 programs: 1 cannot be read, 2 well; 3 payments waiting, 0 that need attention$/m);
  expect(shown).toMatch(/affiliate-mirror status --program beta$/);
  expect(renderPrograms([{ name: 'acme', summary: WELL, problem: null }])).not.toContain('--program');
});
