// What a worker of many programs uses: itself, Postgres and Redis.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { BenchDatabase, BenchPostgres } from './bench-database.ts';
import type { FleetWorker } from './fleet-worker.ts';
import { readMemoryMb, readProcessCpuMs } from './server-cpu.ts';

/** Seldom: looking costs CPU time as well. */
const LOOK_EVERY_MS = 2_000;

export interface Watched {
  readonly worker: FleetWorker;
  readonly postgres: BenchPostgres;
  readonly database: BenchDatabase;
  /** Null if the queue is in Postgres. */
  readonly redis: Redis | null;
}

export interface Used {
  readonly seconds: number;
  readonly workerCpuMs: number;
  /** Of Postgres and Redis; null where it cannot be read. */
  readonly serversCpuMs: number | null;
  readonly transactions: number;
  /** Commands, those of scripts included. */
  readonly redisOperations: number;
  /** The most at once. */
  readonly connections: number;
  readonly redisConnections: number;
  /** Of the largest connection. */
  readonly connectionMb: number;
}

/** Begins to watch, and returns the function that ends it and says what was used meanwhile. */
export async function watchUsage(watched: Watched): Promise<() => Promise<Used>> {
  const { worker, postgres } = watched;
  const over = new AbortController();
  const watching = watchConnections(watched, over.signal);
  const before = await readCounters(watched);
  const readServerMs = postgres.startCpu();
  return async () => {
    const serverMs = readServerMs();
    const after = await readCounters(watched);
    over.abort();
    return {
      seconds: (after.atMs - before.atMs) / 1000,
      workerCpuMs: after.workerCpuMs - before.workerCpuMs,
      serversCpuMs: serverMs === null ? null : serverMs + after.redisCpuMs - before.redisCpuMs,
      transactions: after.transactions - before.transactions,
      redisOperations: after.redisOperations - before.redisOperations,
      ...(await watching),
    };
  };

  async function readCounters({ database, redis }: Watched) {
    const { rows } = await postgres.admin.query<{ transactions: number }>(
      `select (xact_commit + xact_rollback)::float8 as transactions from pg_stat_database where datname = $1`,
      [database.name],
    );
    const info = (await redis?.info()) ?? '';
    const figure = (name: string) => Number(new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1] ?? 0);
    return {
      atMs: performance.now(),
      workerCpuMs: readProcessCpuMs(worker.pid),
      transactions: rows[0]?.transactions ?? Number.NaN,
      redisOperations: figure('total_commands_processed'),
      redisCpuMs: (figure('used_cpu_sys') + figure('used_cpu_user')) * 1000,
    };
  }
}

/** Watches until the signal aborts. */
async function watchConnections(
  { postgres, database, redis }: Watched,
  signal: AbortSignal,
): Promise<Pick<Used, 'connections' | 'redisConnections' | 'connectionMb'>> {
  const most = { connections: 0, redisConnections: 0, connectionMb: 0 };
  while (!signal.aborted) {
    const { rows } = await postgres.admin.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = $1 and backend_type = 'client backend' and application_name like 'affiliate-mirror%'`,
      [database.name],
    );
    const clients = (await redis?.client('LIST')) as string | undefined;
    // But for the bench's own.
    const redisConnections = clients === undefined ? 0 : clients.trim().split('\n').length - 1;
    most.connections = Math.max(most.connections, rows.length);
    most.redisConnections = Math.max(most.redisConnections, redisConnections);
    const sizes = rows.map(({ pid }) => readMemoryMb(pid, 'RssAnon') ?? 0);
    most.connectionMb = Math.max(most.connectionMb, ...sizes);
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return most;
}
