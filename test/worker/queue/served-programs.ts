// What a test of several programs on one queue needs: a worker of a list, and programs that do what they are given.

import type { PoolClient } from 'pg';
import { onTestFinished } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { runMigrations } from '../../../src/db/migrate/migrate.ts';
import type { Item, JobContext, JobSource } from '../../../src/worker/queue/job-source.ts';
import type { ServedProgram } from '../../../src/worker/queue/served-program.ts';
import { type RunningWorker, startWorker } from '../../../src/worker/queue/start-worker.ts';
import type { Timings } from '../../../src/worker/queue/timings.ts';
import { readListQueueId } from '../../../src/worker/queue/worker-state.ts';
import type { Queueing } from './queueing.ts';
import { MOST_JOBS } from './serve-one.ts';

export const log = makeLogger('fatal');

/** Only what ends, and what a test asks for, has a program compared. */
export const ON_DEMAND = { watchIntervalMs: 600_000 };

/** Returns a handle of a migrated schema beside the mirror's; `onTransaction` is called for each that it begins. */
export async function makeSchema(
  { settings }: Queueing,
  schema: string,
  onTransaction = () => {},
): Promise<Database> {
  const pool = makePool(
    { log },
    { url: settings.databaseUrl, schema, max: 3, applicationName: `test of ${schema}` },
  );
  onTestFinished(() => pool.end());
  await runMigrations(pool, { schema });
  const counted = new WeakSet<PoolClient>();
  const connect = async () => {
    const client = await pool.connect();
    if (!counted.has(client)) countTransactions(client, onTransaction);
    counted.add(client);
    return client;
  };
  return makeDatabase({ ...pool, connect });
}

function countTransactions(client: PoolClient, onTransaction: () => void): void {
  let isWithin = false;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  Object.assign(client, {
    query(...args: unknown[]) {
      const [first] = args;
      const text = typeof first === 'string' ? first : (first as { text: string }).text;
      if (!isWithin) onTransaction();
      if (/^(begin|start transaction)/.test(text)) isWithin = true;
      if (/^(commit|rollback)/.test(text)) isWithin = false;
      return query(...args);
    },
  });
}

/** Returns a worker of the list acme, bolt. */
export async function startListWorker(
  { db, settings }: Queueing,
  timings: Partial<Timings>,
  { mostJobs = MOST_JOBS, names = ['acme', 'bolt'] } = {},
): Promise<RunningWorker> {
  const queueId = await readListQueueId(db, settings.mirrorSchema);
  const isListed = (name: string | null) => name !== null && names.includes(name);
  const worker = await startWorker({ db, log }, { queue: settings, queueId, timings, mostJobs, isListed });
  onTestFinished(() => worker.stop());
  return worker;
}

export interface Task extends Pick<Item, 'id'>, Partial<Pick<Item, 'priority'>> {
  readonly run?: (context: JobContext) => Promise<unknown>;
}

export interface Tasks extends JobSource {
  readonly begun: string[];
  /** How often it was asked what is due. */
  asked: number;
  readonly tasks: Task[];
}

/** Returns a source of which the tasks are due, in their order, until each was done. */
export function makeTasks(...tasks: Task[]): Tasks {
  const source: Tasks = {
    name: 'x',
    needsProgram: true,
    schedules: [],
    tasks,
    begun: [],
    asked: 0,
    async findDue() {
      source.asked += 1;
      return tasks.map(({ id, priority = 20, run }) => ({
        id,
        priority,
        async run(context) {
          source.begun.push(id);
          await run?.(context);
          const at = tasks.findIndex((task) => task.id === id);
          if (at >= 0) tasks.splice(at, 1);
          return { kind: 'done' } as const;
        },
      }));
    },
  };
  return source;
}

export function makeServed(
  name: string,
  db: Database,
  sources: readonly JobSource[],
  others: Partial<ServedProgram> = {},
): ServedProgram {
  return { name, db, log, probe: async () => {}, sources, ...others };
}

/** Resolves when the job is to stop, as every job of the worker does. */
export async function untilStopped({ signal }: JobContext): Promise<never> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw signal.reason;
}
