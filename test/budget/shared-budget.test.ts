// The budget's promise: whatever the processes, the program never sees more than the limit in any window.
// 45 requests per 30 seconds, with the window scaled down to 3 seconds and everything else as it is.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { makeLogger } from '../../src/log.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import type { Spending } from './spend-budget.ts';

const run = promisify(execFile);
const SPENDER = fileURLToPath(new URL('./spend-budget.ts', import.meta.url));
const WINDOW_MS = 3000;
const LIMIT = 45;
const log = makeLogger('error');

let database: TestDatabase;
let db: Database;
let sandbox: Sandbox;

beforeAll(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
});

beforeEach(async () => {
  await database.pool.query('truncate request_permits');
  await database.pool.query(
    `update request_budget set paused_until = null, limit_until = null, foreign_until = null, asks_alone = false,
       payments_wait_until = null, last_throttled_at = null`,
  );
  sandbox = await startSandbox(
    { pool: database.pool, log: makeLogger('warn') },
    {
      schema: 'sandbox',
      host: '127.0.0.1',
      port: 0,
      secret: 'secret',
      seed: 1,
      affiliates: 5,
      referrals: 5,
      rateLimit: { requests: LIMIT, windowSeconds: WINDOW_MS / 1000 },
      faults: { shares: {}, exact: [] },
      live: null,
      reset: false,
    },
  );
  return () => sandbox.close();
});

afterAll(() => database.drop());

async function spend(options: Partial<Spending>): Promise<{ answered: number; throttled: number }> {
  const spending: Spending = {
    databaseUrl: database.url,
    apiUrl: sandbox.url,
    secret: 'secret',
    rateLimit: `${LIMIT}/${WINDOW_MS / 1000}`,
    priority: 'reads',
    forMs: 10_000,
    ...options,
  };
  const { stdout } = await run(process.execPath, [SPENDER, JSON.stringify(spending)]);
  return JSON.parse(stdout);
}

/** The largest number of requests that any window of the sandbox ever held. */
function fullestWindow(windowMs: number): number {
  const moments = sandbox.requests.filter(({ status }) => status === 200).map(({ receivedAt }) => receivedAt);
  return Math.max(
    ...moments.map(
      (start, index) => moments.slice(index).filter((moment) => moment < start + windowMs).length,
    ),
  );
}

describe('three processes that share one budget', { timeout: 60_000 }, () => {
  test('never exceed the limit in any window, are never throttled, and use at least 95 % of it', async () => {
    const spenders = await Promise.all([spend({}), spend({}), spend({})]);

    expect(sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(fullestWindow(WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
    for (const { answered, throttled } of spenders) {
      expect(throttled).toBe(0);
      expect(answered).toBeGreaterThan(0);
    }
    // Request number 3 · 45 + 1 opens the fourth window: ideally three windows after the first request.
    const moments = sandbox.requests.map(({ receivedAt }) => receivedAt);
    const took = (moments[3 * LIMIT] ?? Number.POSITIVE_INFINITY) - (moments[0] ?? 0);
    expect((3 * WINDOW_MS) / took).toBeGreaterThan(0.95);
  });

  test('follow a limit that the program lowers, within one window', async () => {
    const lowered = 20;
    const spending = Promise.all([spend({}), spend({}), spend({})]);
    await expect
      .poll(() => sandbox.requests.length, { timeout: 20_000, interval: 20 })
      .toBeGreaterThan(LIMIT);
    sandbox.setRateLimit({ requests: lowered, windowSeconds: WINDOW_MS / 1000 });
    const loweredAt = performance.timeOrigin + performance.now();
    await spending;
    const later = sandbox.requests.filter(({ receivedAt }) => receivedAt > loweredAt + WINDOW_MS);
    expect(later.length).toBeGreaterThan(0);
    expect(later.filter(({ status }) => status === 429)).toEqual([]);
  });

  test('all pause for a window when one of them is answered a 429 that names no moment', async () => {
    const spending = Promise.all([spend({}), spend({}), spend({})]);
    await expect.poll(() => sandbox.requests.length, { timeout: 20_000, interval: 20 }).toBeGreaterThan(5);
    sandbox.setFaults({ shares: {}, exact: [{ kind: '429', after: 0, times: 1 }] });
    await spending;
    const pausedAt = sandbox.requests.find(({ status }) => status === 429)?.receivedAt ?? Number.NaN;
    const inFlightMs = 200;
    const duringPause = sandbox.requests.filter(
      ({ receivedAt }) => receivedAt > pausedAt + inFlightMs && receivedAt < pausedAt + WINDOW_MS,
    );
    expect(duringPause).toEqual([]);
    const afterPause = sandbox.requests.filter(({ receivedAt }) => receivedAt > pausedAt + WINDOW_MS);
    expect(afterPause.length).toBeGreaterThan(0);
  });

  test('let writers go first, and leave readers their floor', async () => {
    const [writer, reader] = await Promise.all([
      spend({ priority: 'payments' }),
      spend({ priority: 'reads' }),
      spend({ priority: 'reads' }),
    ]);
    expect(writer.answered).toBeGreaterThan(reader.answered);
    const total = sandbox.requests.length;
    expect((total - writer.answered) / total).toBeGreaterThan(0.15);
    expect(sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  });
});

describe('a permit', () => {
  const options = {
    rateLimit: { requests: 2, windowSeconds: 60 },
    priority: 'reads',
    requestTimeoutMs: 1000,
  } as const;

  test('that waits ends with the reason of its signal when aborted', async () => {
    const takePermit = makeTakePermit({ db, log }, options);
    await takePermit();
    await takePermit();
    const controller = new AbortController();
    const third = takePermit(controller.signal);
    controller.abort(new Error('stopped'));
    await expect(third).rejects.toThrow('stopped');
  });

  test('of a process that died in flight frees itself', async () => {
    const short = {
      ...options,
      rateLimit: { requests: 1, windowSeconds: 0.1 },
      requestTimeoutMs: 100,
      usableMs: 50,
    };
    const takePermit = makeTakePermit({ db, log }, short);
    const first = await takePermit();
    const second = await takePermit();
    expect(Date.parse(second.grantedAt) - Date.parse(first.grantedAt)).toBeGreaterThanOrEqual(250);
  });

  test('is granted at once, with the database clock, where no limit is kept', async () => {
    const takePermit = makeTakePermit({ db, log }, { ...options, rateLimit: null });
    const permit = await takePermit();
    const { rows } = await database.pool.query('select clock_timestamp() as now');
    expect(permit.grantedAt < rows[0].now).toBe(true);
    const answeredAt = await permit.returnAnswered(null);
    expect(answeredAt > permit.grantedAt).toBe(true);
  });

  test('leaves alone what somebody else uses of the account', async () => {
    const takePermit = makeTakePermit(
      { db, log },
      { ...options, rateLimit: { requests: 10, windowSeconds: 60 } },
    );
    const permit = await takePermit();
    await permit.returnAnswered({ throttled: false, limit: 10, remaining: 1, resetMs: 30_000 });
    await takePermit();
    const controller = new AbortController();
    const beyond = takePermit(controller.signal);
    controller.abort(new Error('nothing remains'));
    await expect(beyond).rejects.toThrow('nothing remains');
  });
});
