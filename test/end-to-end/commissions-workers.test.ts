// Batches through real workers, on either queue: with everything going wrong at once, and with workers killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { requestUpdates } from '../../src/commissions/request-updates.ts';
import { plainRequest, type UpdateRequest } from '../../src/commissions/update-request.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { migrateQueue } from '../../src/queue/queue-tables.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import type { Sandbox } from '../../src/sandbox/start-sandbox.ts';
import type { WriterProcessOptions } from '../commissions/writer-process.ts';
import { FAST, KINDS, type Kind } from '../queue/queueing.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { sized } from '../support/sizes.ts';

/** Both queues share the code that this is about: `npm test` shows it on one, the long tests on the other. */
const SOME_KINDS = sized(KINDS.slice(0, 1), KINDS.slice(1));

/** Updates of the batch in which everything goes wrong, and of the one whose workers are killed. */
const UPDATES = sized(300, 10_000);
const KILLED_UPDATES = sized(120, 1000);
const KILLS = sized(3, 10);
/** The requests of a killed writer wait for two seconds instead of thirty. */
const DRAIN = { leaseMs: 2000, firstBackoffMs: 200 };

const SCRIPT = fileURLToPath(new URL('../commissions/writer-process.ts', import.meta.url));
const children = new Set<ChildProcess>();

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

interface Setting {
  readonly pool: pg.Pool;
  readonly sandbox: Sandbox;
  readonly redis: TestRedis | null;
  /** Every PUT that the program received, by commission. */
  readonly puts: () => ReadonlyMap<string, number>;
  ask(requests: readonly UpdateRequest[]): Promise<number[]>;
  startWorker(options?: Partial<WriterProcessOptions>): ChildProcess;
  finished(): Promise<number>;
  untilFinished(count: number): Promise<void>;
}

async function makeSetting(kind: Kind, size: { affiliates: number; referrals: number }): Promise<Setting> {
  const { url, pool } = await createTestDatabase();
  const redis = kind === 'redis' ? await startRedis() : null;
  await migrateQueue(pool, { redisUrl: redis?.url ?? null, databaseUrl: url, mirrorSchema: 'mirror' });
  const sandbox = await runSandbox(pool, { seed: 11, spelling: 'live', ...size });
  const db = makeDatabase(pool);
  const puts = new Map<string, number>();
  let counted = 0;
  // The sandbox remembers the last 10,000 requests only.
  const count = () => {
    for (const { number, method, url: path } of sandbox.requests) {
      if (number <= counted) continue;
      counted = number;
      const id = path.split('/').at(-1) ?? '';
      if (method === 'PUT') puts.set(id, (puts.get(id) ?? 0) + 1);
    }
  };
  const counting = setInterval(count, 50);
  const finished = async () => {
    const { rows } = await pool.query<{ finished: number }>(
      `select count(*) as finished from commission_updates where state <> 'pending'`,
    );
    return rows[0]?.finished ?? 0;
  };
  return {
    pool,
    sandbox,
    redis,
    puts: () => {
      count();
      return puts;
    },
    async ask(requests) {
      const asked = await requestUpdates({ db }, requests, { batchId: 'batch', requestedBy: 'test' });
      return asked.map(({ id }) => id);
    },
    startWorker(options) {
      const given: WriterProcessOptions = {
        databaseUrl: url,
        redisUrl: redis?.url ?? null,
        apiUrl: sandbox.url,
        secret: SECRET,
        hasBudget: true,
        timings: FAST,
        drain: DRAIN,
        ...options,
      };
      const child = spawn(process.execPath, [SCRIPT, JSON.stringify(given)], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      children.add(child);
      return child;
    },
    finished,
    async untilFinished(wanted) {
      await expect.poll(finished, { interval: 50 }).toBeGreaterThanOrEqual(wanted);
      clearInterval(counting);
    },
  };
}

interface Commission {
  readonly id: string;
  readonly paid_at: string | null;
  readonly amount: number;
  readonly is_voided: boolean;
}

async function commissionsOf(pool: pg.Pool, most: number): Promise<Commission[]> {
  const { rows } = await pool.query<Commission>(
    `select id, paid_at, amount, voided_at is not null as is_voided from sandbox.commissions order by id limit $1`,
    [most],
  );
  expect(rows.length).toBe(most);
  return rows;
}

async function outcomes(pool: pg.Pool) {
  const { rows } = await pool.query<{
    commission_id: string;
    state: string;
    paid_at: string | null;
    program: string | null;
    mirrored: string | null;
    puts: number;
    answered: number;
  }>(
    `select u.commission_id, u.state, u.paid_at, p.paid_at as program, c.paid_at as mirrored,
       (select count(*) from commission_update_attempts a where a.update_id = u.id and method = 'PUT') as puts,
       (select count(*) from commission_update_attempts a
        where a.update_id = u.id and method = 'PUT' and status is not null) as answered
     from commission_updates u left join sandbox.commissions p on p.id = u.commission_id
     left join commissions c on c.id = u.commission_id order by u.id`,
  );
  return rows;
}

const cutToSecond = (timestamp: string | null) => timestamp?.replace(/\.\d+/, '') ?? null;

describe.each(SOME_KINDS)('on %s', (kind) => {
  test(`${UPDATES} updates with everything going wrong each end in the one right state`, async () => {
    const setting = await makeSetting(kind, { affiliates: 50, referrals: UPDATES * 3 + 300 });
    const { pool, sandbox } = setting;
    const commissions = await commissionsOf(pool, UPDATES);
    const expected: string[] = [];
    const requests = commissions.map((commission, index) => {
      const moment = new Date(Date.UTC(2026, 9, 1) + index * 1000 + 250).toISOString();
      const pay = { commission_id: commission.id, action: 'pay', paid_at: moment } as const;
      const [request, state] = ((): [Parameters<typeof plainRequest>[0], string] => {
        if (index % 50 === 0) {
          const commission_id = `00000000-0000-4000-8000-${index.toString().padStart(12, '0')}`;
          return [{ ...pay, commission_id }, 'not_found'];
        }
        if (index % 20 === 1) return [{ ...pay, expected_amount: commission.amount + 1 }, 'conflict'];
        if (commission.is_voided) return [pay, 'rejected'];
        if (index % 10 === 2) {
          return commission.paid_at === null
            ? [{ commission_id: commission.id, action: 'unpay' }, 'unchanged']
            : [{ ...pay, paid_at: commission.paid_at }, 'unchanged'];
        }
        return [pay, 'applied'];
      })();
      expected.push(state);
      return plainRequest(request);
    });
    sandbox.setFaults({
      shares: {
        '5xx': 0.05,
        reset: 0.015,
        'reset-after': 0.015,
        '429': 0.01,
        stall: sized(0.01, 0.001),
        cut: sized(0.02, 0.002),
        html: sized(0.02, 0.002),
      },
      exact: [],
    });
    await setting.ask(requests);
    setting.startWorker({ hasBudget: false });
    await setting.untilFinished(UPDATES);
    sandbox.setFaults(NO_FAULTS);

    const rows = await outcomes(pool);
    expect(rows.map(({ state }) => state)).toEqual(expected);
    const before = new Map(commissions.map(({ id, paid_at }) => [id, paid_at]));
    const puts = setting.puts();
    for (const row of rows) {
      const isApplied = row.state === 'applied';
      if (isApplied) expect(row.program).toBe(cutToSecond(row.paid_at));
      else expect(row.program).toBe(before.get(row.commission_id) ?? null);
      if (row.state !== 'not_found') expect(row.mirrored).toBe(row.program);
      // A PUT for each row that truly differed; every further one is in the attempts. One that was given up
      // without an answer may have gone no further than this machine; one that was answered did arrive.
      const received = puts.get(row.commission_id) ?? 0;
      expect(received).toBeLessThanOrEqual(row.puts);
      expect(received).toBeGreaterThanOrEqual(row.answered);
      expect(received > 0).toBe(isApplied);
    }
    expect(rows.some(({ puts: sent }) => sent > 1)).toBe(true);
  });

  test(`workers killed ${KILLS} times in a batch of ${KILLED_UPDATES} leave each change made once`, async () => {
    const setting = await makeSetting(kind, { affiliates: 20, referrals: KILLED_UPDATES * 4 });
    const { pool, redis } = setting;
    const commissions = (await commissionsOf(pool, KILLED_UPDATES * 1.1))
      .filter(({ is_voided }) => !is_voided)
      .slice(0, KILLED_UPDATES);
    await setting.ask(
      commissions.map(({ id }) =>
        plainRequest({ commission_id: id, action: 'pay', paid_at: '2026-10-05T12:00:00Z' }),
      ),
    );
    for (let kills = 1; kills <= KILLS; kills += 1) {
      const worker = setting.startWorker();
      const ended = once(worker, 'exit');
      const more = Math.ceil(Math.random() * 0.8 * (KILLED_UPDATES / KILLS));
      const target = Math.min(0.95 * KILLED_UPDATES, (await setting.finished()) + more);
      await expect.poll(setting.finished, { interval: 5 }).toBeGreaterThanOrEqual(target);
      worker.kill('SIGKILL');
      await ended;
      if (kills === Math.ceil(KILLS / 2) && redis !== null) {
        await redis.stop();
        await redis.wipe();
        await redis.start();
      }
    }
    setting.startWorker();
    await setting.untilFinished(KILLED_UPDATES);

    const puts = setting.puts();
    const rows = await outcomes(pool);
    expect(rows.length).toBe(KILLED_UPDATES);
    for (const row of rows) {
      expect(row).toMatchObject({ state: 'applied', program: row.paid_at, mirrored: row.paid_at });
      const received = puts.get(row.commission_id) ?? 0;
      expect(received).toBeGreaterThanOrEqual(1);
      // What was announced and not answered may or may not have left; nothing left unannounced.
      expect(received).toBeLessThanOrEqual(row.puts);
      expect(received).toBeGreaterThanOrEqual(row.answered);
    }
  });

  test('a request inserted by hand is applied by a waiting worker that only the insertion wakes', async () => {
    const setting = await makeSetting(kind, { affiliates: 10, referrals: 300 });
    const { pool } = setting;
    const [commission] = await commissionsOf(pool, 1);
    const worker = setting.startWorker({ timings: { ...FAST, watchIntervalMs: 600_000 } });
    await setting.ask([
      plainRequest({ commission_id: commission?.id ?? '', action: 'due', due_at: '2027-01-01T00:00:00Z' }),
    ]);
    await setting.untilFinished(1);
    await pool.query(`insert into commission_updates (commission_id, action) values ($1, 'unpay')`, [
      commission?.id,
    ]);
    await setting.untilFinished(2);
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
