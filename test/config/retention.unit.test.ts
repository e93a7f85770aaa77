// How long things are kept, as variables say it: what is refused, and in which words.

import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

test('without a setting, history and attempts are kept for ever, and the logs of runs for 400 days', () => {
  const { retention, databaseSizeLimit } = readConfig({}).process;
  expect(retention).toEqual({ history: null, runs: 400, rejected: 400, attempts: null, drift: 400 });
  expect(databaseSizeLimit).toBe(null);
});

test('an empty setting keeps for ever', () => {
  const { retention } = readConfig({ RETENTION_RUNS_DAYS: '', RETENTION_DRIFT_DAYS: ' ' }).process;
  expect(retention).toMatchObject({ runs: null, drift: null, rejected: 400 });
});

test.each(['0', '-1', '1.5', 'never', '36501', '30d'])('%s days are refused', (days) => {
  expect(() => readConfig({ RETENTION_HISTORY_DAYS: days, RETENTION_RUNS_DAYS: days })).toThrow(
    'RETENTION_HISTORY_DAYS must be a whole number of days from 1 to 36500, or empty for ever\n' +
      'RETENTION_RUNS_DAYS must be a whole number of days from 1 to 36500, or empty for ever',
  );
});

test.each([
  ['50 GB', 50e9],
  ['500mb', 500e6],
  ['1.5 TB', 1.5e12],
])('a limit of %s is %d bytes', (text, bytes) => {
  expect(readConfig({ DATABASE_SIZE_LIMIT: text }).process.databaseSizeLimit).toBe(bytes);
});

test.each(['50', '50 GiB', '0 GB', '-5 GB', 'much'])('a limit of %s is refused', (text) => {
  expect(() => readConfig({ DATABASE_SIZE_LIMIT: text })).toThrow(
    'DATABASE_SIZE_LIMIT must be a size such as 500 MB, 50 GB or 2 TB',
  );
});
