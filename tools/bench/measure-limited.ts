// What the account's limit makes of a sync: one small sync measured under the limit, the time of larger ones computed,
// and what a program costs that is read at its limit without a pause. The last is what a further 1,000 rows take: the
// CPU time of that sync less that of a smaller one, beside the rows that it read more. So Node's start does not count,
// nor that code is slow until it has run for a while; what waiting for the limit costs does.

import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './bench-database.ts';
import type { ProgramState } from './invent-program.ts';
import { countRefused, leastSeconds, shareOfLimit } from './limit-use.ts';
import { type BenchDeps, programOf } from './measure-round.ts';
import { requestsOf, runSync, type SyncRun } from './run-sync.ts';

const PAGE = 100;
/** Each of the two lists ends with its head read once more. */
const HEADS = 2;
const SIZES = [10_000, 100_000, 1_000_000];
/** The usual limit, and what comes under it. */
const USUAL_LIMIT = '45/30';
const USUAL_ROWS_PER_SECOND = (45 / 30) * PAGE;
/** Seldom, since looking costs Postgres time as well; the command keeps an idle connection for a minute. */
const LOOK_EVERY_MS = 2_000;

interface LimitedSync extends SyncRun {
  readonly rows: number;
  /** Of Postgres; null where it cannot be read. */
  readonly serverCpuMs: number | null;
  /** The most at once. */
  readonly connections: number;
  readonly arrivals: readonly number[];
}

export async function measureLimited(
  deps: BenchDeps,
  { referrals, fewer, rateLimit }: { referrals: number; fewer: number; rateLimit: string },
): Promise<void> {
  const { figures, say } = deps;
  const named = `${referrals.toLocaleString('en')} referrals under ${rateLimit}`;
  say(`full sync of ${named}`);
  const run = await syncUnder(deps, programOf(referrals), rateLimit);
  figures.add(`${named}: requests`, '', requestsOf(run));
  figures.add(`${named}: measured`, 's', run.wallMs / 1000);
  figures.add(`${named}: computed`, 's', leastSeconds(requestsOf(run), rateLimit));
  figures.add(`share of ${rateLimit} that a sync uses`, '%', shareOfLimit(run.arrivals, rateLimit), {
    least: 98,
  });
  const refused = countRefused(run.arrivals, rateLimit);
  figures.add(`requests of a sync that ${rateLimit} refuses`, '', refused, { most: 0 });
  for (const size of SIZES) {
    const { affiliates } = programOf(size);
    const needed = Math.ceil(affiliates / PAGE) + Math.ceil(size / PAGE) + HEADS;
    const minutes = leastSeconds(needed, USUAL_LIMIT) / 60;
    figures.add(`${size.toLocaleString('en')} referrals under ${USUAL_LIMIT}: computed`, 'min', minutes);
  }
  addPrograms(deps, run, await syncUnder(deps, programOf(fewer), rateLimit));
}

/** What one more program costs, whose worker reads at the usual limit without a pause. */
function addPrograms({ figures }: BenchDeps, run: LimitedSync, smaller: LimitedSync): void {
  const rows = run.rows - smaller.rows;
  const add = (of: string, cpuMs: number) => {
    const secondsPerSecond = (cpuMs / 1000 / rows) * USUAL_ROWS_PER_SECOND;
    figures.add(`sync under a limit: CPU time per 1,000 rows, ${of}`, 'ms', (cpuMs / rows) * 1000);
    figures.add(
      `programs at ${USUAL_ROWS_PER_SECOND} rows/s that a core carries, ${of}`,
      '',
      1 / secondsPerSecond,
    );
  };
  const processMs = run.cpuMs - smaller.cpuMs;
  add('the process alone', processMs);
  if (run.serverCpuMs !== null && smaller.serverCpuMs !== null) {
    add('process and Postgres', processMs + run.serverCpuMs - smaller.serverCpuMs);
  }
  figures.add('each such program: connections to Postgres at most', '', run.connections);
  figures.add('each such program: peak memory of its process', 'MB', run.peakMemoryBytes / 1_000_000);
}

async function syncUnder(deps: BenchDeps, program: ProgramState, rateLimit: string): Promise<LimitedSync> {
  const { postgres, server } = deps;
  const { url } = await server.serve(program);
  const database = await postgres.createDatabase();
  const over = new AbortController();
  const looking = countConnections(database, over.signal);
  const readServerMs = postgres.startCpu();
  const run = await runSync(deps, { programUrl: url, databaseUrl: database.url, rateLimit });
  const serverCpuMs = readServerMs();
  over.abort();
  const connections = await looking;
  await database.drop();
  const arrivals = await server.readArrivals();
  return { ...run, rows: program.referrals + program.affiliates, serverCpuMs, connections, arrivals };
}

/** Returns the most connections that others had to the database at once, until the signal aborts. */
async function countConnections({ pool }: BenchDatabase, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    const { rows } = await pool.query<{ connections: number }>(
      `select count(*)::int as connections from pg_stat_activity
       where datname = current_database() and application_name <> current_setting('application_name')`,
    );
    most = Math.max(most, rows[0]?.connections ?? 0);
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return most;
}
