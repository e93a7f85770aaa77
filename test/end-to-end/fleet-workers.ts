// The workers of a fleet as processes, each with a role in Postgres and a user in Redis of its own, by which its
// connections are counted.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { query } from '../support/embedded-directories.ts';
import { spawnCli } from '../support/run-cli.ts';
import { environmentOf, type Fleet, type FleetProgram } from './fleet.ts';

export interface FleetWorker {
  readonly user: string;
  readonly child: ChildProcess;
  /** What it logged. */
  readonly lines: readonly Line[];
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
}

export interface Line {
  readonly msg: string;
  readonly program?: string;
  readonly [name: string]: unknown;
}

const PASSWORD = 'of-a-test';

/** Returns a worker that is starting; killed when the test ends. */
export async function startFleetWorker(fleet: Fleet, user: string): Promise<FleetWorker> {
  await fleet.postgres.query(
    `do $$ begin create role ${user} superuser login password '${PASSWORD}';
     exception when duplicate_object then null; end $$`,
  );
  const redis = fleet.redis === null ? null : new Redis(fleet.redis.url);
  await redis?.call('ACL', 'SETUSER', user, 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
  redis?.disconnect();
  const child = spawnCli(['work'], {
    ...environmentOf(fleet),
    DATABASE_URL: as(user, fleet.databaseUrl),
    ...(fleet.redis !== null && { REDIS_URL: as(user, fleet.redis.url) }),
  });
  const lines: Line[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line.startsWith('{') ? JSON.parse(line) : { msg: line });
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { user, child, lines, ended };
}

/** Waits until it has begun to serve each of the programs. */
export async function untilServing({ lines }: FleetWorker, programs: readonly FleetProgram[]): Promise<void> {
  const unserved = () => {
    const served = lines.flatMap(({ msg, program }) => (msg === 'program.served' ? program : []));
    return programs.map(({ name }) => name).filter((name) => !served.includes(name));
  };
  await expect.poll(unserved, { interval: 200 }).toEqual([]);
}

export interface Connections {
  /** The most that each worker had, by its user. */
  readonly postgres: ReadonlyMap<string, number>;
  readonly redis: ReadonlyMap<string, number>;
}

/** Counts the connections of each user twice a second, until the test ends. */
export function countConnections(fleet: Fleet): Connections {
  const most = { postgres: new Map<string, number>(), redis: new Map<string, number>() };
  const note = (counts: Map<string, number>, users: readonly string[]) => {
    for (const [user, { length }] of Object.entries(Object.groupBy(users, (one) => one)) as [
      string,
      string[],
    ][]) {
      counts.set(user, Math.max(counts.get(user) ?? 0, length));
    }
  };
  const over = new AbortController();
  const count = async () => {
    const redis = fleet.redis === null ? null : new Redis(fleet.redis.url);
    while (!over.signal.aborted) {
      // While Postgres restarts, there is none.
      const rows = await query(
        fleet.postgres.url,
        `select usename from pg_stat_activity where backend_type = 'client backend' and usename like 'worker%'`,
      ).catch(() => []);
      note(
        most.postgres,
        (rows as { usename: string }[]).map(({ usename }) => usename),
      );
      const clients = String((await redis?.client('LIST')) ?? '');
      note(
        most.redis,
        [...clients.matchAll(/ user=(worker\w*)/g)].map(([, user]) => user ?? ''),
      );
      await sleep(500);
    }
    redis?.disconnect();
  };
  const counting = count();
  onTestFinished(async () => {
    over.abort();
    await counting;
  });
  return most;
}

function as(user: string, address: string): string {
  const url = new URL(address);
  url.username = user;
  url.password = PASSWORD;
  return url.href;
}
