// What batches through real workers need: a program, a mirror with its queue, and processes that work.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { requestUpdates } from '../../src/commissions/requests/request-updates.ts';
import type { UpdateRequest } from '../../src/commissions/update-request.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { migrateQueue } from '../../src/queue/queue-tables.ts';
import type { Sandbox } from '../../src/sandbox/start-sandbox.ts';
import type { WriterProcessOptions } from '../commissions/writer/writer-process.ts';
import { FAST, type Kind } from '../queue/queueing.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

/** The requests of a killed writer wait for two seconds instead of thirty. */
const DRAIN = { claimMs: 2000, firstBackoffMs: 200 };

const SCRIPT = fileURLToPath(new URL('../commissions/writer/writer-process.ts', import.meta.url));
export interface Setting {
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

/** Returns a program, a mirror and its queue; the workers that are left when the test ends are killed. */
export async function makeSetting(
  kind: Kind,
  size: { affiliates: number; referrals: number },
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
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    },
    finished,
    async untilFinished(wanted) {
      await expect.poll(finished, { interval: 50 }).toBeGreaterThanOrEqual(wanted);
      clearInterval(counting);
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
export async function commissionsOf(pool: pg.Pool, most: number): Promise<Commission[]> {
  const { rows } = await pool.query<Commission>(
    `select id, paid_at, amount, voided_at is not null as is_voided from sandbox.commissions order by id limit $1`,
    [most],
  );
  expect(rows.length).toBe(most);
  return rows;
}

/** Returns what became of each request, in the program and in the mirror. */
export async function outcomes(pool: pg.Pool) {
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
