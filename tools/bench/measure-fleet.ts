// Many programs in one worker: what reading all of them takes under their limits, what the worker uses meanwhile and at
// rest, beside one program. The programs are one, under as many paths; their schemas are copied from a database that
// was migrated once.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { BenchDatabase } from './bench-database.ts';
import { median } from './figures.ts';
import { listFleet, nameFleet } from './fleet-programs.ts';
import { type Used, watchUsage } from './fleet-usage.ts';
import { type FleetWorker, startFleetWorker } from './fleet-worker.ts';
import { shareOfLimit } from './limit-use.ts';
import { measureLists, measureMigrate, type TimesOfOne } from './measure-many.ts';
import { type BenchDeps, programOf, syncOnce } from './measure-round.ts';
import { readMemoryMb } from './server-cpu.ts';

export interface FleetSizes {
  readonly programs: number;
  /** So many must use their budgets fully on two cores. */
  readonly few: number;
  readonly referrals: number;
  readonly rateLimit: string;
  readonly restSeconds: number;
}

/** What is measured the same on both queues. */
interface Fleet {
  readonly sizes: FleetSizes;
  /** Migrated, empty. */
  readonly like: BenchDatabase;
  readonly one: TimesOfOne;
  readonly programUrl: string;
  /** CPU time per 1,000 rows of a sync of one program without a limit; null where it cannot be read. */
  readonly unlimitedMs: number | null;
}

interface FleetRun {
  readonly names: readonly string[];
  readonly redisUrl: string | null;
  readonly label: string;
}

const UNLIMITED_SYNCS = 3;
/** After the last sync: the rounds that it asked for, and the jobs of the night. */
const SETTLE_MS = 15_000;
const SHARE = 95;
const MOST = {
  timesFastest: 1.3,
  timesUnlimited: 1.8,
  memoryMb: 512,
  connectionMb: 100,
  redisConnections: 3,
  restTransactions: 10,
  restCpu: 5,
};

export async function measureFleet(
  deps: BenchDeps,
  sizes: FleetSizes,
  redisUrl: string | null,
): Promise<void> {
  const { server, say } = deps;
  const { programs, few, referrals, rateLimit } = sizes;
  say(`one sync without a limit, ${UNLIMITED_SYNCS} times`);
  const { url: programUrl } = await server.serve(programOf(referrals));
  const unlimitedMs = await measureUnlimited(deps, referrals, programUrl);
  say(`migrate of ${programs} programs`);
  const names = nameFleet(programs);
  const { database: like, one } = await measureMigrate(deps, { programUrl, names, rateLimit });
  const fleet = { sizes, like, one, programUrl, unlimitedMs };
  if (few < programs) {
    const label = `${few} programs, queue on Postgres`;
    await runFleet(deps, fleet, { names: nameFleet(few), redisUrl: null, label });
  }
  for (const queue of ['Postgres', 'Redis'] as const) {
    if (queue === 'Redis' && redisUrl === null) continue;
    const label = `${programs} programs, queue on ${queue}`;
    await runFleet(deps, fleet, { names, redisUrl: queue === 'Redis' ? redisUrl : null, label });
  }
  await like.drop();
}

async function measureUnlimited(
  deps: BenchDeps,
  referrals: number,
  programUrl: string,
): Promise<number | null> {
  const perThousand: number[] = [];
  for (let count = 0; count < UNLIMITED_SYNCS; count += 1) {
    const database = await deps.postgres.createDatabase();
    const { cpuMs, serverCpuMs } = await syncOnce(deps, database, programUrl);
    await database.drop();
    if (serverCpuMs === null) return null;
    perThousand.push((cpuMs + serverCpuMs) / (rowsOf(referrals) / 1000));
  }
  const ms = median(perThousand);
  deps.figures.add('one program without a limit: CPU time per 1,000 rows', 'ms', ms);
  return ms;
}

/** Reads all programs once, and if they are all of the fleet, goes on to the worker at rest. */
async function runFleet(deps: BenchDeps, fleet: Fleet, { names, redisUrl, label }: FleetRun): Promise<void> {
  const { cleanup, postgres, server, say } = deps;
  const { sizes, like, programUrl } = fleet;
  say(label);
  const database = await postgres.createDatabase(like);
  await using redis = openRedis(redisUrl);
  // The requests of the run before are forgotten.
  await server.serve(programOf(sizes.referrals));
  const listed = { programUrl, names, rateLimit: sizes.rateLimit };
  const worker = startFleetWorker(deps, {
    ...(await listFleet(cleanup, listed, new Date())),
    DATABASE_URL: database.url,
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
  });
  const watched = { worker, postgres, database, redis: redis.client };
  const endSync = await watchUsage(watched);
  await worker.untilSynced(names.length);
  addSync(deps, fleet, label, { ...(await endSync()), arrivals: await server.readArrivalsOfEach() }, worker);
  if (names.length === sizes.programs) {
    // Otherwise autovacuum does it in the minute that is measured.
    await database.pool.query('vacuum (analyze)');
    await sleep(SETTLE_MS);
    const endRest = await watchUsage(watched);
    await sleep(sizes.restSeconds * 1000);
    addRest(deps, label, await endRest(), worker, names.length);
    await measureLists(deps, listed, { label, page: await worker.page, database, one: fleet.one });
  }
  await worker.stop();
  await database.drop();
}

function addSync(
  { figures }: BenchDeps,
  { sizes, unlimitedMs }: Fleet,
  label: string,
  used: Used & { readonly arrivals: readonly (readonly number[])[] },
  { pid }: FleetWorker,
): void {
  const { arrivals, transactions, redisOperations, connections, redisConnections } = used;
  const onRedis = redisConnections > 0;
  const rows = rowsOf(sizes.referrals) * arrivals.length;
  const requests = arrivals.reduce((sum, of) => sum + of.length, 0);
  const firstMs = Math.min(...arrivals.map((of) => of[0] ?? Number.NaN));
  const lastMs = Math.max(...arrivals.map((of) => of.at(-1) ?? Number.NaN));
  // From its own first request on: a worker begins its programs one after the other.
  const tookMs = arrivals.map((of) => (of.at(-1) ?? Number.NaN) - (of[0] ?? Number.NaN));
  const shares = arrivals.map((of) => shareOfLimit(of, sizes.rateLimit));
  const add = (name: string, unit: string, value: number, target?: { most?: number; least?: number }) =>
    figures.add(`${label}: ${name}`, unit, value, target);
  add('rows per second', 'rows/s', (rows / (lastMs - firstMs)) * 1000);
  add('requests', '', requests);
  add('share of its budget that a program uses, median', '%', median(shares));
  const isFew = arrivals.length < sizes.programs;
  const least = isFew ? { least: SHARE } : undefined;
  add('share of its budget that a program uses, least', '%', Math.min(...shares), least);
  const reached = (100 * shares.filter((share) => share >= SHARE).length) / shares.length;
  add(`programs that use ${SHARE} % or more`, '%', reached, isFew ? { least: 100 } : undefined);
  const timesFastest = Math.max(...tookMs) / Math.min(...tookMs);
  add('slowest ÷ fastest program', '×', timesFastest, { most: MOST.timesFastest });
  const perThousand = (ms: number) => ms / (rows / 1000);
  add('CPU time per 1,000 rows, of the worker', 'ms', perThousand(used.workerCpuMs));
  if (used.serversCpuMs !== null) {
    const allMs = perThousand(used.workerCpuMs + used.serversCpuMs);
    add('CPU time per 1,000 rows, of the servers', 'ms', perThousand(used.serversCpuMs));
    add('CPU time per 1,000 rows', 'ms', allMs);
    add('cores in use', '', (used.workerCpuMs + used.serversCpuMs) / 1000 / used.seconds);
    const times = allMs / (unlimitedMs ?? Number.NaN);
    add('CPU time ÷ that of one program without a limit', '×', times, { most: MOST.timesUnlimited });
  }
  add('peak memory of the worker', 'MB', readMemoryMb(pid, 'VmHWM') ?? Number.NaN, { most: MOST.memoryMb });
  add('memory of the largest connection', 'MB', used.connectionMb, { most: MOST.connectionMb });
  add('connections to Postgres at most', '', connections, { most: onRedis ? 8 : 12 });
  if (onRedis) add('connections to Redis at most', '', redisConnections, { most: MOST.redisConnections });
  add('transactions per request', '', transactions / requests);
  if (onRedis) add('Redis operations per request', '', redisOperations / requests);
}

function addRest(
  { figures }: BenchDeps,
  label: string,
  used: Used,
  { pid }: FleetWorker,
  programs: number,
): void {
  const add = (name: string, unit: string, value: number, target?: { most?: number }) =>
    figures.add(`${label}, at rest: ${name}`, unit, value, target);
  const ofCore = (ms: number) => ms / (used.seconds * 10);
  add('CPU of the worker', '% of a core', ofCore(used.workerCpuMs), { most: MOST.restCpu });
  if (used.serversCpuMs !== null) add('CPU of the servers', '% of a core', ofCore(used.serversCpuMs));
  const perMinute = 60 / used.seconds / programs;
  const most = { most: MOST.restTransactions };
  add('transactions a minute and program', '', used.transactions * perMinute, most);
  if (used.redisConnections > 0) {
    add('Redis operations a minute and program', '', used.redisOperations * perMinute);
  }
  add('memory of the worker', 'MB', readMemoryMb(pid, 'VmRSS') ?? Number.NaN, { most: 200 + programs });
}

function openRedis(url: string | null): AsyncDisposable & { readonly client: Redis | null } {
  const client = url === null ? null : new Redis(url);
  return { client, [Symbol.asyncDispose]: async () => client?.disconnect() };
}

function rowsOf(referrals: number): number {
  const { affiliates } = programOf(referrals);
  return affiliates + referrals;
}
