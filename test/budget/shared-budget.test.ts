// The budget's promise: whatever the processes, the program never sees more than the limit in any window.
// 45 requests per 30 seconds, with the window scaled down to 0.6 seconds and everything else as it is.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Kysely, PostgresDialect } from 'kysely';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeApiClient } from '../../src/api/client.ts';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { Priority } from '../../src/budget/waits.ts';
import type { Tables } from '../../src/db/tables.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import type { Spending } from './spend-budget.ts';

const SPENDER = fileURLToPath(new URL('./spend-budget.ts', import.meta.url));
const WINDOW_MS = 600;
const SPENDER_CONCURRENCY = 4;
const LIMIT = 45;
const log = makeLogger('error');

let sandbox: Sandbox;

const database = await createTestDatabase();
const { db } = database;

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

/** Starts three processes, and returns once each of them was answered; `stop` has them end. */
async function startSpenders(): Promise<{ stop(): Promise<void> }> {
  const spending: Spending = {
    databaseUrl: database.url,
    apiUrl: sandbox.url,
    secret: 'secret',
    rateLimit: `${LIMIT}/${WINDOW_MS / 1000}`,
    priority: 'reads',
  };
  const spenders = [1, 2, 3].map(() => {
    const child = spawn(process.execPath, [SPENDER, JSON.stringify(spending)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, ended: once(child, 'exit'), answered: once(child.stdout, 'data') };
  });
  await Promise.all(spenders.map(({ answered }) => answered));
  return {
    async stop() {
      for (const { child } of spenders) child.kill('SIGTERM');
      for (const { ended } of spenders) expect(await ended).toEqual([0, null]);
    },
  };
}

/** Resolves once the program was sent so many more requests. */
async function untilSent(more: number): Promise<void> {
  const wanted = sandbox.requests.length + more;
  await expect.poll(() => sandbox.requests.length).toBeGreaterThan(wanted);
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

const throttled = () => sandbox.requests.filter(({ status }) => status === 429);

// How much of the limit they use is measured by the bench: on a busy machine it says nothing of the budget.
describe('three processes that share one budget', () => {
  test('never exceed the limit in any window, are never throttled, and all go on', async () => {
    const spenders = await startSpenders();
    await untilSent(3 * LIMIT);
    await spenders.stop();

    expect(throttled()).toEqual([]);
    expect(fullestWindow(WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
  });

  test('follow a limit that the program lowers', async () => {
    const lowered = 20;
    const spenders = await startSpenders();
    await untilSent(LIMIT);
    sandbox.setRateLimit({ requests: lowered, windowSeconds: WINDOW_MS / 1000 });
    await untilSent(5 * lowered);
    await spenders.stop();
    // Each of the requests under way when the first answer named the new limit may be one too many; none after them.
    expect(throttled().length).toBeLessThanOrEqual(3 * SPENDER_CONCURRENCY);
    expect(sandbox.requests.slice(-2 * lowered).filter(({ status }) => status === 429)).toEqual([]);
  });

  test('all pause for a window when one of them is answered a 429 that names no time', async () => {
    const spenders = await startSpenders();
    sandbox.setFaults({ shares: {}, exact: [{ kind: '429', after: 0, times: 1 }] });
    await expect.poll(() => throttled().length).toBe(1);
    await untilSent(LIMIT);
    await spenders.stop();
    const { rows } = await database.pool.query(
      `select count(*) filter (where granted_at < paused_until) as during,
         count(*) filter (where granted_at >= paused_until) as later, paused_until - last_throttled_at as pause
       from request_permits, request_budget where granted_at > last_throttled_at
       group by paused_until, last_throttled_at`,
    );
    expect(rows).toMatchObject([{ during: 0, pause: { milliseconds: WINDOW_MS } }]);
    expect(rows[0].later).toBeGreaterThan(0);
  });
});

test('what is answered 429 is sent again only after the pause that the answer names', async () => {
  sandbox.setRateLimit({ requests: 1, windowSeconds: 1 });
  const rateLimit = { requests: LIMIT, windowSeconds: WINDOW_MS / 1000 };
  const takePermit = makeTakePermit({ db, log }, { rateLimit, priority: 'reads', requestTimeoutMs: 10_000 });
  const attempts = { mostThrottled: 3, firstWaitMs: 0 };
  const options = { url: sandbox.url, secret: 'secret', timeoutMs: 10_000, attempts };
  const api = makeApiClient({ takePermit, log }, options);
  for (let request = 0; request < 3; request += 1) await api.list('affiliates', { page: 1, limit: 1 });
  await api.close();
});

describe('while a payment waits', () => {
  const whatReads = async () => {
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query(`select wait_for from take_permit('reads', 10, 100, 0.2)`);
      return rows[0].wait_for;
    } finally {
      await client.query('rollback');
      client.release();
    }
  };

  test('reads keep their floor, and step back above it', async () => {
    const take = (priority: Priority) =>
      makeTakePermit(
        { db, log },
        { rateLimit: { requests: 10, windowSeconds: 60 }, priority, requestTimeoutMs: 1000 },
      );
    await database.pool.query(
      `update request_budget set payments_wait_until = clock_timestamp() + interval '1 minute'`,
    );
    await take('payments')();
    expect(await whatReads()).toBeNull();
    await take('reads')();
    expect(await whatReads()).toBeNull();
    await take('reads')();
    expect(await whatReads()).toBe('payments');
    await take('payments')();
    await database.pool.query('update request_budget set payments_wait_until = clock_timestamp()');
    expect(await whatReads()).toBeNull();
  });

  test('it says so for as long as it waits', async () => {
    const take = makeTakePermit(
      { db, log },
      { rateLimit: { requests: 1, windowSeconds: 60 }, priority: 'payments', requestTimeoutMs: 1000 },
    );
    await take();
    const stop = new AbortController();
    const waiting = take(stop.signal);
    await expect
      .poll(async () => {
        const { rows } = await database.pool.query(
          'select payments_wait_until > clock_timestamp() as waits from request_budget',
        );
        return rows[0].waits;
      })
      .toBe(true);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
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

  test('of a request that got no answer counts for as long as the program may still receive it', async () => {
    const short = {
      ...options,
      rateLimit: { requests: 1, windowSeconds: 0.1 },
      requestTimeoutMs: 300,
      usableMs: 50,
    };
    const takePermit = makeTakePermit({ db, log }, short);
    const first = await takePermit();
    await first.returnAnswered(null);
    const second = await takePermit();
    expect(Date.parse(second.grantedAt) - Date.parse(first.grantedAt)).toBeGreaterThanOrEqual(450);
  });

  test('asks the database once for all who wait for it, and after the last of them asked', async () => {
    let asked = 0;
    const counting = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: database.pool }),
      log: () => {
        asked += 1;
      },
    });
    const takePermit = makeTakePermit({ db: counting, log }, { ...options, rateLimit: null });
    const permits = await Promise.all(Array.from({ length: 50 }, () => takePermit()));
    expect(asked).toBe(1);
    const { rows } = await database.pool.query('select clock_timestamp() as now');
    const answered = await Promise.all(permits.map((permit) => permit.returnAnswered(null)));
    expect(asked).toBeLessThanOrEqual(3);
    for (const answeredAt of answered) expect(answeredAt > rows[0].now).toBe(true);
  });
});
