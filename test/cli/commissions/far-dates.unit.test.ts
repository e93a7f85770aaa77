import { expect, test } from 'vitest';
import { describeFarDates } from '../../../src/cli/commissions/asked.ts';
import { plainRequest } from '../../../src/commissions/update-request.ts';

const NOW = Date.parse('2027-01-10T12:00:00Z');
const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

const pay = (line: number | null, paid_at: string) => ({
  line,
  request: plainRequest({ commission_id: ID, action: 'pay', paid_at }),
});
const due = (line: number | null, due_at: string) => ({
  line,
  request: plainRequest({ commission_id: ID, action: 'due', due_at }),
});

test('names what is dated a year before, and what is dated far ahead', () => {
  const rows = [
    pay(2, '2026-01-08T00:00:00Z'),
    pay(3, '2027-01-08T00:00:00Z'),
    due(4, '2062-10-01T02:00:00+02:00'),
  ];
  expect(describeFarDates(rows, NOW)).toBe(
    'dated more than half a year from now, so make sure of the year: line 2 (2026-01-08T00:00:00Z), line 4 (2062-10-01T00:00:00Z)',
  );
});

test('names what comes from no file by its commission', () => {
  expect(describeFarDates([pay(null, '1926-10-01T00:00:00Z')], NOW)).toMatch(
    `: ${ID} (1926-10-01T00:00:00Z)`,
  );
});

test('names the first five, and counts the others', () => {
  const rows = Array.from({ length: 1205 }, (_, index) => pay(index + 2, '2062-10-01T00:00:00Z'));
  expect(describeFarDates(rows, NOW)).toMatch(
    /: line 2 \(.*, line 6 \(2062-10-01T00:00:00Z\) and 1,200 more$/,
  );
});

test('says nothing of dates within half a year, and of what has no date', () => {
  const unpay = { line: 5, request: plainRequest({ commission_id: ID, action: 'unpay' }) };
  const rows = [pay(2, '2026-08-01T00:00:00Z'), due(3, '2027-06-30T00:00:00Z'), unpay];
  expect(describeFarDates(rows, NOW)).toBeNull();
});
