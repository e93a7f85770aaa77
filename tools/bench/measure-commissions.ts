// How fast the real worker applies commission updates, on both queues: by the payment ledger, from the first request
// that was sent to the last row that ended. And how much of a limit it uses: by when its requests came to the
// program.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './bench-database.ts';
import { median } from './figures.ts';
import { commissionId } from './invent-program.ts';
import { countRefused, shareOfLimit } from './limit-use.ts';
import { type BenchDeps, programOf, ROW_BY_ROW } from './measure-round.ts';
import { endChild } from './start-child.ts';
import { startCommand } from './start-command.ts';
import { startMeasured } from './start-measured.ts';

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
  addPayments(deps, `${paid}, queue on Postgres`, onPostgres, 0.4);
  if (redisUrl !== null) {
    say(`${paid}, queue on Redis`);
    const settings = { API_RATE_LIMIT: 'none', REDIS_URL: redisUrl };
    const onRedis = await payThroughWorker(deps, { updates, settings });
    addPayments(deps, `${paid}, queue on Redis`, onRedis, 0.7);
  }
  const rateLimit = `${limited.requests}/${limited.seconds}`;
  say(`${limited.updates} commissions paid under ${rateLimit}`);
  await payThroughWorker(deps, { updates: limited.updates, settings: { API_RATE_LIMIT: rateLimit } });
  // Every request counts, the worker's own look at the secret included.
  const arrivals = await server.readArrivals();
  const share = shareOfLimit(arrivals, rateLimit);
  figures.add(`share of ${rateLimit} that payments use`, '%', share, { least: 98 });
  const refused = countRefused(arrivals, rateLimit);
  figures.add(`requests of payments that ${rateLimit} refuses`, '', refused, { most: 0 });
}

interface Payments {
  readonly perSecond: number;
  /** Of the worker, its start included, and of Postgres; null where that cannot be read. */
  readonly cpuMsPerUpdate: { readonly worker: number; readonly server: number | null };
}

/** A payment is several statements and two requests; C, in the same run, is one statement and its commit. */
function addPayments(
  { figures }: BenchDeps,
  name: string,
  { perSecond, cpuMsPerUpdate: { worker, server } }: Payments,
  least: number,
): void {
  const rowByRow = figures.all().find((figure) => figure.name === ROW_BY_ROW)?.values ?? [];
  figures.add(name, 'updates/s', perSecond);
  figures.add(`${name}, beside C`, '×', perSecond / median(rowByRow), { least });
  figures.add(`${name}: CPU time of the worker per update`, 'ms', worker);
  if (server !== null) figures.add(`${name}: CPU time of Postgres per update`, 'ms', server);
}

async function payThroughWorker(
  deps: BenchDeps,
  { updates, settings }: { updates: number; settings: Readonly<Record<string, string>> },
): Promise<Payments> {
  const { postgres, server } = deps;
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
  // The tables of the queue.
  await once(
    startCommand(deps, ['migrate'], { environment, stdio: ['ignore', 'ignore', 'inherit'] }),
    'exit',
  );
  const readServerMs = postgres.startCpu();
  const { command: worker, readUsage } = startMeasured(deps, ['work'], {
    environment,
    output: ['ignore', 'inherit'],
  });
  const ids = Array.from({ length: updates }, (_, number) => commissionId(number));
  await database.pool.query(
    `insert into commission_updates (commission_id, action, paid_at)
     select unnest($1::text[]), 'pay', '2026-10-05T12:00:00Z'`,
    [ids],
  );
  await untilNothingIsPending(database, worker);
  await endChild(worker, 'SIGTERM');
  const serverMs = readServerMs();
  const { cpuMs } = await readUsage();
  const { rows } = await database.pool.query<{ applied: number; seconds: number }>(
    `select (count(*) filter (where state = 'applied'))::int as applied,
       extract(epoch from max(finished_at) - (select min(sent_at) from commission_update_attempts))::float8 as seconds
     from commission_updates`,
  );
  await database.drop();
  const { applied = 0, seconds = Number.NaN } = rows[0] ?? {};
  if (applied !== updates) throw new Error(`${applied} of ${updates} commissions were paid`);
  return {
    perSecond: updates / seconds,
    cpuMsPerUpdate: { worker: cpuMs / updates, server: serverMs === null ? null : serverMs / updates },
  };
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
