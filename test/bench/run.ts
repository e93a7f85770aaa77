// `npm run bench`: measures syncs through the real command, each beside its baselines in the same round, prints a
// table and writes bench-results.json. `--quick` is a smoke run on small lists, whose figures mean nothing; `--reports`
// measures the views of the reports alone, in two minutes, and `--page` the status page alone, in four.
// Ratios are what counts: machines differ, and so does one machine from hour to hour.
// Ctrl-C or SIGTERM ends it with everything that it started, and leaves no file.

import { writeFile } from 'node:fs/promises';
import { availableParallelism, constants, cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { startBenchPostgres } from './bench-database.ts';
import { makeFigures, median, renderFigures } from './figures.ts';
import { measureCommissions } from './measure-commissions.ts';
import { measureExports } from './measure-exports.ts';
import { measureGrowth } from './measure-growth.ts';
import { measureLimited } from './measure-limited.ts';
import { measurePage } from './measure-page.ts';
import { measureQueue } from './measure-queue.ts';
import { measureReports } from './measure-reports.ts';
import { type BenchDeps, measureRound } from './measure-round.ts';
import { startPageServer } from './start-page-server.ts';
import { startRedis } from './start-redis.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    reports: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    output: { type: 'string', default: 'bench-results.json' },
  },
});

const SIZES = options.quick
  ? {
      referrals: 2_000,
      rounds: 1,
      others: [1_000, 4_000],
      limited: { referrals: 400, rateLimit: '4/1' },
      queue: { jobs: 100, repetitions: 1 },
      reports: { referrals: 2_000, commissions: 500 },
      page: { referrals: 2_000, updates: 20, looks: 2, spans: 1, spanSeconds: 2 },
      commissions: { updates: 50, limited: { updates: 20, requests: 10, seconds: 0.5 } },
      exports: { rows: 2_000 },
    }
  : {
      referrals: 100_000,
      rounds: 5,
      others: [10_000, 1_000_000],
      limited: { referrals: 6_000, rateLimit: '45/30' },
      queue: { jobs: 2_000, repetitions: 3 },
      reports: { referrals: 1_000_000, commissions: 100_000 },
      page: { referrals: 1_000_000, updates: 10_000, looks: 11, spans: 5, spanSeconds: 20 },
      // As many requests under the limit as fill six windows.
      commissions: { updates: 5_000, limited: { updates: 135, requests: 45, seconds: 10 } },
      exports: { rows: 1_000_000 },
    };

const say = (line: string) => process.stderr.write(`${line}\n`);
const cleanup = new AsyncDisposableStack();
// Not `once`: npm passes a Ctrl-C on, which this process has from the terminal already.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
// npm passes a SIGTERM on to the shell between it and this process, which ends of it and does not pass it on.
if (process.env['npm_lifecycle_event'] !== undefined) {
  const shell = process.ppid;
  setInterval(() => process.ppid !== shell && stop('SIGTERM'), 200).unref();
}

try {
  await bench();
} catch (error) {
  // What the cleanup breaks off is not an error.
  if (!cleanup.disposed) throw error;
} finally {
  await cleanup.disposeAsync();
}

async function stop(signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
  if (cleanup.disposed) return;
  const left = await cleanup.disposeAsync().then(
    () => 'nothing is left behind',
    (error: unknown) => `not all of it could be cleared up: ${error}`,
  );
  say(`stopped by ${signal}; ${left}`);
  process.exit(128 + constants.signals[signal]);
}

async function bench(): Promise<void> {
  const figures = makeFigures();
  const postgres = await startBenchPostgres(cleanup);
  const isWhole = !options.reports && !options.page;
  const server = startPageServer(cleanup);
  const deps: BenchDeps = { cleanup, postgres, server, figures, say };
  if (isWhole) {
    await measureSyncs(deps);
    await measureExports(deps, SIZES.exports);
  }
  if (isWhole || options.reports) await measureReports(deps, SIZES.reports);
  if (isWhole || options.page) await measurePage(deps, SIZES.page);
  const results = {
    measured_at: new Date().toISOString(),
    machine: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    node: process.versions.node,
    postgres: postgres.version,
    quick: options.quick,
    figures: figures.all().map((figure) => ({ ...figure, median: median(figure.values) })),
  };
  await writeFile(options.output, `${JSON.stringify(results, null, 2)}\n`);
  process.stdout.write(
    `${renderFigures(figures.all())}\n\n${results.machine}; Node ${results.node}; Postgres ${results.postgres}\n`,
  );
}

async function measureSyncs(deps: BenchDeps): Promise<void> {
  const redisUrl = await startRedis(cleanup);
  if (redisUrl === null) say('no redis-server on this machine: nothing is measured on it');
  for (let round = 1; round <= SIZES.rounds; round += 1) {
    say(`round ${round} of ${SIZES.rounds}: ${SIZES.referrals} referrals`);
    await measureRound(deps, SIZES.referrals);
  }
  await measureGrowth(deps, SIZES);
  await measureLimited(deps, SIZES.limited);
  await measureQueue(deps, SIZES.queue, redisUrl);
  await measureCommissions(deps, SIZES.commissions, redisUrl);
}
