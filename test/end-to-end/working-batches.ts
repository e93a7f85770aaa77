// What batches through real workers need: a program, a mirror with its queue, and processes that work.

import { expect, onTestFinished } from 'vitest';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { requestUpdates } from '../../src/payments/ask/request-updates.ts';
import type { PayoutRequest } from '../../src/payments/payout-request.ts';
import type { UpdateRequest } from '../../src/payments/update-request.ts';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import { migrateQueue } from '../../src/worker/queue/queue-tables.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { FAST, type Kind } from '../worker/queue/queueing.ts';
import { startWorking, type Working } from './interruptions.ts';

export interface WorkerInput {
  /** Null: no budget. Left out: one without a limit. */
  readonly rateLimit?: string | null;
  /** Between two looks at what is due, if nothing wakes it. */
  readonly watchIntervalMs?: number;
}

export interface Setting {
  readonly pool: Pool;
  readonly sandbox: TestSandbox;
  readonly redis: TestRedis | null;
  /** Every PUT that the program received, by commission. */
  readonly puts: () => ReadonlyMap<string, number>;
  ask(requests: readonly (UpdateRequest | PayoutRequest)[]): Promise<number[]>;
  startWorker(input?: WorkerInput): Working;
  /** Returns how many requests have ended. */
  finished(): Promise<number>;
  untilFinished(count: number): Promise<void>;
}

/** Returns a program, a mirror and its queue; the workers that are left when the test ends are killed. */
export async function makeSetting(
  kind: Kind,
  size: Pick<SandboxOptions, 'affiliates' | 'referrals' | 'optionalLists'>,
): Promise<Setting> {
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
  onTestFinished(() => clearInterval(counting));
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
    startWorker({ rateLimit = 'none', watchIntervalMs } = {}) {
      return startWorking({
        databaseUrl: url,
        apiUrl: sandbox.url,
        secret: SECRET,
        timeoutMs: 1000,
        rateLimit,
        work: {
          kind: 'worker',
          redisUrl: redis?.url ?? null,
          timings: { ...FAST, ...(watchIntervalMs && { watchIntervalMs }) },
          // The requests of a killed writer wait for two seconds instead of thirty.
          timing: { claimMs: 2000, firstBackoffMs: 200 },
        },
      });
    },
    finished,
    async untilFinished(wanted) {
      await expect.poll(finished, { interval: 50 }).toBeGreaterThanOrEqual(wanted);
    },
  };
}

export interface Commission {
  readonly id: string;
  readonly paid_at: string | null;
  readonly amount: number;
  readonly is_voided: boolean;
}

/** Returns the program's first commissions. */
export async function commissionsOf(pool: Pool, most: number): Promise<Commission[]> {
  const { rows } = await pool.query<Commission>(
    `select id, paid_at, amount, voided_at is not null as is_voided from sandbox.commissions order by id limit $1`,
    [most],
  );
  expect(rows.length).toBe(most);
  return rows;
}

/** Returns what became of each request, in the program and in the mirror. */
export async function outcomes(pool: Pool) {
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
