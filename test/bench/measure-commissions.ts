// How fast the real worker applies commission updates, on both queues, and how much of a limit it uses. Everything
// is read from the ledger afterwards: from the first request that was sent to the last row that ended.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BenchDatabase } from './bench-database.ts';
import { commissionId } from './invent-program.ts';
import { type BenchDeps, programOf } from './measure-round.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const LOOK_EVERY_MS = 100;
const LONGEST_WAIT_MS = 300_000;

export interface CommissionSizes {
  readonly updates: number;
  readonly limited: { readonly updates: number; readonly requests: number; readonly seconds: number };
}

export async function measureCommissions(
  deps: BenchDeps & { say(line: string): void },
  { updates, limited }: CommissionSizes,
): Promise<void> {
  const { figures, say } = deps;
  const paid = `${updates.toLocaleString('en')} commissions paid`;
  say(`${paid}, queue on Postgres`);
  const onPostgres = await payThroughWorker(deps, { updates, settings: { API_RATE_LIMIT: 'none' } });
  figures.add(`${paid}, queue on Postgres`, 'updates/s', onPostgres.updatesPerSecond, { least: 200 });
  const redis = await startRedis();
  if (redis === null) say('no redis-server on this machine: nothing is measured on it');
  else {
    say(`${paid}, queue on Redis`);
    const settings = { API_RATE_LIMIT: 'none', REDIS_URL: redis.url };
    try {
      const onRedis = await payThroughWorker(deps, { updates, settings });
      figures.add(`${paid}, queue on Redis`, 'updates/s', onRedis.updatesPerSecond, { least: 300 });
    } finally {
      await redis.stop();
    }
  }
  const rateLimit = `${limited.requests}/${limited.seconds}`;
  say(`${limited.updates} commissions paid under ${rateLimit}`);
  const settings = { API_RATE_LIMIT: rateLimit };
  const { sentAfterSeconds } = await payThroughWorker(deps, { updates: limited.updates, settings });
  // Whole windows only: what is left for the last one need not fill it.
  const windows = Math.max(1, Math.floor((sentAfterSeconds.at(-1) ?? 0) / limited.seconds));
  const requests = sentAfterSeconds.filter((seconds) => seconds < windows * limited.seconds).length;
  const allowed = windows * limited.requests;
  figures.add(`share of ${rateLimit} that payments use`, '%', (100 * requests) / allowed, { least: 95 });
}

async function payThroughWorker(
  { postgres, server }: BenchDeps,
  { updates, settings }: { updates: number; settings: Readonly<Record<string, string>> },
): Promise<{ updatesPerSecond: number; sentAfterSeconds: readonly number[] }> {
  // Served anew, no commission is paid.
  const { url } = await server.serve(programOf(100));
  const database = await postgres.createDatabase();
  const environment = {
    PATH: process.env['PATH'],
    AFFILIATE_API_URL: url,
    AFFILIATE_API_SECRET: 'bench',
    DATABASE_URL: database.url,
    SYNC_FULL_CRON: '',
    SYNC_DELTA_CRON: '',
    STATUS_PORT: '0',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const start = (command: string) =>
    spawn(process.execPath, [MAIN, command], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  // The tables of the queue.
  await once(start('migrate'), 'exit');
  const worker = start('work');
  try {
    const ids = Array.from({ length: updates }, (_, number) => commissionId(number));
    await database.pool.query(
      `insert into commission_updates (commission_id, action, paid_at)
       select unnest($1::text[]), 'pay', '2026-10-05T12:00:00Z'`,
      [ids],
    );
    await untilNothingIsPending(database, worker);
  } finally {
    await end(worker);
  }
  const { rows } = await database.pool.query<{
    applied: number;
    seconds: number;
    sent_after: readonly number[];
  }>(
    `with first as (select min(sent_at) as at from commission_update_attempts)
     select (select count(*) from commission_updates where state = 'applied')::int as applied,
       extract(epoch from (select max(finished_at) from commission_updates) - first.at)::float8 as seconds,
       array(select extract(epoch from sent_at - first.at)::float8
         from commission_update_attempts order by sent_at) as sent_after
     from first`,
  );
  await database.drop();
  const { applied = 0, seconds = Number.NaN, sent_after = [] } = rows[0] ?? {};
  if (applied !== updates) throw new Error(`${applied} of ${updates} commissions were paid`);
  return { updatesPerSecond: updates / seconds, sentAfterSeconds: sent_after };
}

async function untilNothingIsPending({ pool }: BenchDatabase, worker: ChildProcess): Promise<void> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  for (;;) {
    const { rowCount } = await pool.query(`select from commission_updates where state = 'pending' limit 1`);
    if (rowCount === 0) return;
    if (worker.exitCode !== null) throw new Error(`the worker ended with code ${worker.exitCode}`);
    if (Date.now() > deadline) throw new Error('the worker did not come to an end');
    await sleep(LOOK_EVERY_MS);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Gives back a Redis as the documentation asks for (AOF, written out every second); null where there is none. */
async function startRedis(): Promise<{ url: string; stop(): Promise<void> } | null> {
  const directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-bench-redis-'));
  const port = await findFreePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--appendonly', 'yes'];
  const child = spawn('redis-server', [...options, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  const isThere = await Promise.race([
    once(child, 'spawn').then(() => true),
    once(child, 'error').then(() => false),
  ]);
  const remove = () => rm(directory, { recursive: true, force: true });
  if (!isThere) {
    await remove();
    return null;
  }
  return {
    url: `redis://127.0.0.1:${port}/0`,
    async stop() {
      await end(child);
      await remove();
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
