// How fast the real worker applies commission updates, on both queues: by the payment ledger, from the first request
// that was sent to the last row that ended. And how much of a limit it uses: by when its requests came to the
// program.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './bench-database.ts';
import { commissionId } from './invent-program.ts';
import { leastSeconds } from './measure-limited.ts';
import { type BenchDeps, programOf } from './measure-round.ts';
import { endChild } from './start-child.ts';
import { startCommand } from './start-command.ts';

const LOOK_EVERY_MS = 100;
const LONGEST_WAIT_MS = 300_000;

export interface CommissionSizes {
  readonly updates: number;
  readonly limited: { readonly updates: number; readonly requests: number; readonly seconds: number };
}

/** Without a Redis, nothing is measured on it. */
export async function measureCommissions(
  deps: BenchDeps,
  { updates, limited }: CommissionSizes,
  redisUrl: string | null,
): Promise<void> {
  const { server, figures, say } = deps;
  const paid = `${updates.toLocaleString('en')} commissions paid`;
  say(`${paid}, queue on Postgres`);
  const onPostgres = await payThroughWorker(deps, { updates, settings: { API_RATE_LIMIT: 'none' } });
  figures.add(`${paid}, queue on Postgres`, 'updates/s', onPostgres, { least: 500 });
  if (redisUrl !== null) {
    say(`${paid}, queue on Redis`);
    const settings = { API_RATE_LIMIT: 'none', REDIS_URL: redisUrl };
    const onRedis = await payThroughWorker(deps, { updates, settings });
    figures.add(`${paid}, queue on Redis`, 'updates/s', onRedis, { least: 900 });
  }
  const rateLimit = `${limited.requests}/${limited.seconds}`;
  say(`${limited.updates} commissions paid under ${rateLimit}`);
  await payThroughWorker(deps, { updates: limited.updates, settings: { API_RATE_LIMIT: rateLimit } });
  // The least time that the limit allows for as many requests, beside the time that they took at the program: never
  // above 100 %, unless the limit was not kept. Every request counts, the worker's own look at the secret included.
  const arrivals = await server.readArrivals();
  const tookMs = (arrivals.at(-1) ?? Number.NaN) - (arrivals[0] ?? Number.NaN);
  const share = leastSeconds(arrivals.length, rateLimit) / (tookMs / 1000);
  figures.add(`share of ${rateLimit} that payments use`, '%', 100 * share, { least: 95 });
}

/** Returns the updates per second. */
async function payThroughWorker(
  { cleanup, postgres, server }: BenchDeps,
  { updates, settings }: { updates: number; settings: Readonly<Record<string, string>> },
): Promise<number> {
  // Served again from its beginning, no commission is paid.
  const { url } = await server.serve(programOf(100));
  const database = await postgres.createDatabase();
  const environment = {
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
    startCommand(cleanup, [command], { environment, stdio: ['ignore', 'ignore', 'inherit'] });
  // The tables of the queue.
  await once(start('migrate'), 'exit');
  const worker = start('work');
  const ids = Array.from({ length: updates }, (_, number) => commissionId(number));
  await database.pool.query(
    `insert into commission_updates (commission_id, action, paid_at)
     select unnest($1::text[]), 'pay', '2026-10-05T12:00:00Z'`,
    [ids],
  );
  await untilNothingIsPending(database, worker);
  await endChild(worker, 'SIGTERM');
  const { rows } = await database.pool.query<{ applied: number; seconds: number }>(
    `select (count(*) filter (where state = 'applied'))::int as applied,
       extract(epoch from max(finished_at) - (select min(sent_at) from commission_update_attempts))::float8 as seconds
     from commission_updates`,
  );
  await database.drop();
  const { applied = 0, seconds = Number.NaN } = rows[0] ?? {};
  if (applied !== updates) throw new Error(`${applied} of ${updates} commissions were paid`);
  return updates / seconds;
}

/** Resolves once every update has ended. Throws: an Error where the worker ends before, or takes too long. */
export async function untilNothingIsPending({ pool }: BenchDatabase, worker: ChildProcess): Promise<void> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  for (;;) {
    const { rowCount } = await pool.query(`select from commission_updates where state = 'pending' limit 1`);
    if (rowCount === 0) return;
    if (worker.exitCode !== null) throw new Error(`the worker ended with code ${worker.exitCode}`);
    if (Date.now() > deadline) throw new Error('the worker did not come to an end');
    await sleep(LOOK_EVERY_MS);
  }
}
