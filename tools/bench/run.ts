// `npm run bench`: measures syncs through the real command, each beside its baselines in the same round, prints a
// table and writes bench-results.json. `--quick` is a smoke run on small lists, whose figures mean nothing. Parts can
// be measured alone: `--reports` the views of the reports, in two minutes, `--page` the status page, in four, `--peer`
// the nearest comparable engine beside a full sync, in two, `--payouts` the requests of payouts, in three, and `--delta`
// deltas by how much has changed, in three, with the chart of docs/performance.md. `--fleet` measures many programs in
// one worker, alone, in six minutes, or fewer with `--programs 40`. The program is the built one, except in the queue's
// own figures.
// Ratios are what counts: machines differ, and so does one machine from hour to hour.
// Ctrl-C or SIGTERM ends it with everything that it started, and leaves no file.

import { writeFile } from 'node:fs/promises';
import { availableParallelism, constants, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBenchPostgres } from './bench-database.ts';
import { buildBenchProgram } from './bench-program.ts';
import { drawDeltaCost } from './draw-delta-cost.ts';
import { makeFigures, median, renderFigures } from './figures.ts';
import { measureCommissions } from './measure-commissions.ts';
import { measureDelta } from './measure-delta.ts';
import { measureExports } from './measure-exports.ts';
import { measureFleet } from './measure-fleet.ts';
import { measureGrowth } from './measure-growth.ts';
import { measureLimited } from './measure-limited.ts';
import { measurePage } from './measure-page.ts';
import { measurePayouts } from './measure-payouts.ts';
import { measurePeer } from './measure-peer.ts';
import { measureQueue } from './measure-queue.ts';
import { measureReports } from './measure-reports.ts';
import { type BenchDeps, measureRound, programOf, syncOnce } from './measure-round.ts';
import { sizesOf } from './sizes.ts';
import { startPageServer } from './start-page-server.ts';
import { startRedis } from './start-redis.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    reports: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    peer: { type: 'boolean', default: false },
    payouts: { type: 'boolean', default: false },
    delta: { type: 'boolean', default: false },
    fleet: { type: 'boolean', default: false },
    programs: { type: 'string' },
    output: { type: 'string', default: 'bench-results.json' },
  },
});

const SIZES = sizesOf({ isQuick: options.quick });
const CHART = join(import.meta.dirname, '../../docs/images/delta-cost.svg');
/** What may be measured alone; but for --fleet, the whole bench measures them as well. */
const PARTS = ['reports', 'page', 'peer', 'payouts', 'delta'] as const;
const isWhole = !options.fleet && PARTS.every((part) => !options[part]);
const isWanted = (part: (typeof PARTS)[number]) => isWhole || options[part];

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
  const [program, postgres] = await Promise.all([buildBenchProgram(cleanup), startBenchPostgres(cleanup)]);
  const server = startPageServer(cleanup);
  const deps: BenchDeps = { cleanup, program, postgres, server, figures, say };
  if (postgres.startCpu()() === null)
    say('no CPU time of Postgres on this system: it is read on Linux alone');
  await warmUp(deps);
  if (isWhole) await measureSyncs(deps);
  if (isWanted('delta')) await measureDeltas(deps);
  if (isWanted('peer')) await measurePeer(deps, SIZES.peer);
  if (isWanted('payouts')) await measurePayouts(deps, SIZES.payouts);
  if (isWhole) await measureExports(deps, SIZES.exports);
  if (isWanted('reports')) await measureReports(deps, SIZES.reports);
  if (isWanted('page')) await measurePage(deps, SIZES.page);
  if (options.fleet) await measurePrograms(deps);
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

/** The first start of a build compiles its code, and keeps what it compiled for all others. */
async function warmUp(deps: BenchDeps): Promise<void> {
  const { url } = await deps.server.serve(programOf(SIZES.limited.referrals));
  const database = await deps.postgres.createDatabase();
  await syncOnce(deps, database, url);
  await database.drop();
}

async function measureDeltas(deps: BenchDeps): Promise<void> {
  const costs = await measureDelta(deps, SIZES.delta);
  // The whole bench changes no page of the project.
  if (options.delta && !options.quick) await writeFile(CHART, drawDeltaCost(costs));
}

async function measurePrograms(deps: BenchDeps): Promise<void> {
  const programs = Number(options.programs ?? SIZES.fleet.programs);
  const few = Math.min(programs, SIZES.fleet.few);
  await measureFleet(deps, { ...SIZES.fleet, programs, few }, await openRedis());
}

async function openRedis(): Promise<string | null> {
  const redisUrl = await startRedis(cleanup);
  if (redisUrl === null) say('no redis-server on this machine: nothing is measured on it');
  return redisUrl;
}

async function measureSyncs(deps: BenchDeps): Promise<void> {
  const redisUrl = await openRedis();
  for (let round = 1; round <= SIZES.rounds; round += 1) {
    say(`round ${round} of ${SIZES.rounds}: ${SIZES.referrals} referrals`);
    await measureRound(deps, SIZES.referrals);
  }
  await measureGrowth(deps, SIZES);
  await measureLimited(deps, SIZES.limited);
  await measureQueue(deps, SIZES.queue, redisUrl);
  await measureCommissions(deps, SIZES.commissions, redisUrl);
}
