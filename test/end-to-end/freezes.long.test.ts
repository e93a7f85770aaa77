// Processes that are stopped (SIGSTOP) and go on (SIGCONT) at random moments of a busy hour, for longer than their
// claims, locks and permits hold. Whatever changed meanwhile: the limit holds, nothing old overwrites something
// newer, and while one is stopped the others go on.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, test } from 'vitest';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { requestUpdates } from '../../src/payments/ask/request-updates.ts';
import { plainRequest } from '../../src/payments/update-request.ts';
import { migrateQueue } from '../../src/worker/queue/queue-tables.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { startRedis } from '../support/redis.ts';
import { FAST, KINDS } from '../worker/queue/queueing.ts';
import type { BusyProcessOptions } from './busy-process.ts';

const FREEZES = 25;
const SCRIPT = fileURLToPath(new URL('busy-process.ts', import.meta.url));
const LIMIT = 45;
const WINDOW_MS = 1500;
/** A permit is usable for a fifth of a second, a claim holds for six tenths: a stop outlives both, or one, or none. */
const USABLE_MS = 200;
const CLAIM_MS = 600;
const LONGEST_STOP_MS = 2000;
const COMMISSIONS = 40;

const children = new Set<ChildProcess>();
// Both queues side by side: most of it is waiting.
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

async function startBusy(options: BusyProcessOptions): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.add(child);
  const last: string[] = [];
  const started = Promise.withResolvers<void>();
  createInterface({ input: child.stderr as NonNullable<typeof child.stderr> }).on('line', (line) => {
    last.push(line);
    if (last.length > 20) last.shift();
    if (line.includes('worker.started')) started.resolve();
  });
  child.once('exit', (code) => {
    if (children.has(child)) process.stderr.write(`a busy process ended (${code}): ${last.join('\n')}\n`);
    started.reject(new Error('it ended'));
  });
  await started.promise;
  return child;
}

function fullestWindow(moments: readonly number[]): number {
  let from = 0;
  let most = 0;
  moments.forEach((moment, to) => {
    while ((moments[from] ?? 0) <= moment - WINDOW_MS) from += 1;
    most = Math.max(most, to - from + 1);
  });
  return most;
}

/** Notes every change of a commission in the program, in the order in which the program made them. */
async function noteWrites(pool: Pool): Promise<void> {
  await pool.query(`
    create table public.program_writes (seq bigint generated always as identity, id text, paid_at timestamptz);
    create function public.note_write() returns trigger language plpgsql as
      'begin insert into public.program_writes (id, paid_at) values (new.id, new.paid_at); return null; end';
    create trigger note_write after update on sandbox.commissions for each row execute function public.note_write()`);
}

test.concurrent.for(KINDS)(
  'processes that are stopped at random moments do no harm (%s)',
  async (kind, { expect }) => {
    const { url, pool } = await createTestDatabase();
    const redis = kind === 'redis' ? await startRedis() : null;
    await migrateQueue(pool, { redisUrl: redis?.url ?? null, databaseUrl: url, mirrorSchema: 'mirror' });
    const sandbox = await runSandbox(pool, { seed: 11, affiliates: 20, referrals: 1500 });
    sandbox.setRateLimit({ requests: LIMIT, windowSeconds: WINDOW_MS / 1000 });
    await noteWrites(pool);
    const sent = () => sandbox.requests.at(-1)?.number ?? 0;
    const db = makeDatabase(pool);
    const options = {
      databaseUrl: url,
      redisUrl: redis?.url ?? null,
      apiUrl: sandbox.url,
      secret: SECRET,
      rateLimit: `${LIMIT}/${WINDOW_MS / 1000}`,
      timings: FAST,
      claimMs: CLAIM_MS,
      usableMs: USABLE_MS,
    };
    const busy = await Promise.all([
      startBusy({ ...options, role: 'worker' }),
      startBusy({ ...options, role: 'worker' }),
      startBusy({ ...options, role: 'foreground' }),
    ]);

    const { rows: commissions } = await pool.query<{ id: string }>(
      'select id from sandbox.commissions where voided_at is null order by id limit $1',
      [COMMISSIONS],
    );
    const ids = commissions.map(({ id }) => id);
    // Each request pays at a moment of its own, so that a write shows whose it is: later ones ask for later moments.
    const lastAsked = new Map<string, string>();
    let asked = 0;
    const ask = async () => {
      const requests = ids.map((id) => {
        asked += 1;
        const paid_at = new Date(Date.UTC(2020, 0, 1) + asked * 1000).toISOString();
        lastAsked.set(id, paid_at);
        return plainRequest({ commission_id: id, action: 'pay', paid_at, even_if_refunded: true });
      });
      await requestUpdates({ db }, requests, { batchId: null, requestedBy: 'finance' });
    };
    const pending = async () => {
      const { rows } = await pool.query<{ pending: number }>(
        `select count(*) as pending from commission_updates where state = 'pending'`,
      );
      return rows[0]?.pending ?? 0;
    };

    for (let freeze = 0; freeze < FREEZES; freeze += 1) {
      if ((await pending()) < COMMISSIONS) await ask();
      const victim = busy[Math.floor(Math.random() * busy.length)];
      await sleep(Math.random() * 150);
      victim?.kill('SIGSTOP');
      await sleep(Math.random() < 0.5 ? Math.random() * CLAIM_MS : Math.random() * LONGEST_STOP_MS);
      // What was on its way has arrived by now: whatever comes further is the others'.
      const before = sent();
      await expect.poll(sent, { interval: 20, message: 'nobody sends anything' }).toBeGreaterThan(before);
      victim?.kill('SIGCONT');
    }
    await expect.poll(pending, { interval: 100 }).toBe(0);
    for (const child of busy) {
      children.delete(child);
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      expect(code).toBe(0);
    }

    sandbox.setRateLimit(null);
    expect(sandbox.requests.length, 'the sandbox has forgotten some').toBe(sent());
    expect(sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(fullestWindow(sandbox.requests.map(({ receivedAt }) => receivedAt))).toBeLessThanOrEqual(LIMIT);
    const { rows: states } = await pool.query(
      'select state, count(*) from commission_updates group by state order by state',
    );
    expect(states.map(({ state }) => state)).toEqual(['applied']);
    const { rows: backwards } = await pool.query(`
    select * from (
      select seq, id, paid_at, max(paid_at) over (partition by id order by seq) as newest from public.program_writes
    ) as write where paid_at < newest`);
    expect(backwards, 'an older request overwrote a newer one').toEqual([]);
    for (const id of ids) expect((await sandbox.commission(id)).paid_at).toBe(lastAsked.get(id));
  },
);
