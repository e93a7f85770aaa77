import { expect, test } from 'vitest';
import { startBenchPostgres } from './bench-database.ts';

const WORK = 'select count(*) from generate_series(1, 2000000)';

test('the CPU time of the server counts a session that runs, and one that has ended; only Linux knows it', async () => {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startBenchPostgres(cleanup);
  const database = await postgres.createDatabase();
  const readMs = postgres.startCpu();
  await database.pool.query(WORK);
  const whileItRuns = readMs();
  await database.drop();
  const onceItHasEnded = readMs();
  if (process.platform !== 'linux') return expect([whileItRuns, onceItHasEnded]).toEqual([null, null]);
  expect(whileItRuns).toBeGreaterThanOrEqual(30);
  expect(onceItHasEnded).toBeGreaterThanOrEqual(whileItRuns ?? Number.NaN);
});
