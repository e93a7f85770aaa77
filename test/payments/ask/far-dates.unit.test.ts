import { expect, test } from 'vitest';
import { describeFarDates } from '../../../src/payments/ask/describe-rows.ts';
import { plainRequest } from '../../../src/payments/update-request.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const NOW = Date.parse('2026-10-01T00:00:00Z');

const pay = (line: number | null, paid_at: string) => ({
  line,
  request: plainRequest({ commission_id: ID, action: 'pay', paid_at }),
});
const unpay = { line: 4, request: plainRequest({ commission_id: ID, action: 'unpay' }) };
const far = [2, 3, 4, 5, 6, 7, 8].map((line) => pay(line, '2025-10-01T00:00:00Z'));

test.each([
  [[pay(2, '2026-04-02T00:00:00Z'), pay(3, '2027-04-01T00:00:00Z'), unpay], null],
  [[pay(2, '2025-10-01T00:00:00Z'), unpay], /year: line 2 \(2025-10-01T00:00:00Z\)$/],
  [[pay(null, '2206-10-01T00:00:00Z')], /year: 0b2a\S+ \(2206-/],
  [far, /line 6 \(2025-10-01T00:00:00Z\) and 2 more$/],
])('dates more than half a year away are named, the first five: %#', (rows, words) => {
  const found = describeFarDates(rows, NOW);
  if (words === null) expect(found).toBeNull();
  else expect(found).toMatch(words);
});
