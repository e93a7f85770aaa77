// Listed programs for a test: real schemas of one database, all well, and a watch over them.

import { onTestFinished } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { withLock } from '../../src/db/locks/process-session.ts';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import type { Channel } from '../../src/observe/alerts/message.ts';
import type { AlertTimings } from '../../src/observe/alerts/timings.ts';
import { watchAlerts } from '../../src/observe/alerts/watch.ts';
import { type FigureCache, makeFigureCache } from '../../src/observe/metrics/figure-cache.ts';
import type { ObservedProgram } from '../../src/observe/observed-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { FAST } from './alerts/watching.ts';
import { observe } from './metrics/scrape.ts';

export interface ListedPrograms {
  readonly database: TestDatabase;
  readonly programs: readonly ObservedProgram[];
  /** Runs the statement in the program's schema. */
  run(name: string, statement: string): Promise<unknown>;
  /** How many statements outside of transactions, and transactions, the programs' handles have begun. */
  transactions(): number;
}

export async function createListed(...names: string[]): Promise<ListedPrograms> {
  const database = await createTestDatabase();
  let transactions = 0;
  const poolOf = (name: string) => database.pool.shared.of(`mirror_${name}`);
  const programs: ObservedProgram[] = [];
  for (const name of names) {
    const pool = poolOf(name);
    await runMigrations(pool, { schema: `mirror_${name}` });
    // Long ago: the program is at rest.
    await pool.query(`
      insert into sync_runs (resource, mode, state, verified, started_at, finished_at)
      select unnest(array['affiliates', 'referrals']), 'full', 'succeeded', true, now() - interval '2 hours',
        now() - interval '1 hour'`);
    const connect = () => {
      transactions += 1;
      return pool.connect();
    };
    const db = makeDatabase({ ...pool, connect });
    programs.push(observe(db, { name, mirrorSchema: `mirror_${name}` }));
  }
  return {
    ...{ database, programs },
    run: (name, statement) => poolOf(name).query(statement),
    transactions: () => transactions,
  };
}

export interface ListedWatch {
  readonly figures: FigureCache;
  readonly warnings: readonly unknown[];
  stop(): Promise<void>;
}

/** Starts a worker's watch over the programs, which ends with the test. */
export function watchListed(
  { database, programs }: Pick<ListedPrograms, 'database' | 'programs'>,
  channels: readonly Channel[],
  timings: Partial<AlertTimings> = {},
): ListedWatch {
  const stopping = new AbortController();
  const figures = makeFigureCache();
  const warnings: unknown[] = [];
  // Each worker has a session of its own.
  const own = makeDatabase(database.pool);
  const watching = watchAlerts(
    {
      ...{ programs: () => programs, figures, channels, checkQueue: async () => {} },
      alone: async (work) => !(await withLock(own, 'alerts', work)).isHeldByOther,
      warn: (error) => warnings.push(error),
    },
    { signal: stopping.signal, maxAgeSeconds: 26 * 3600, timings: { ...FAST, ...timings } },
  );
  const stop = () => {
    stopping.abort();
    return watching;
  };
  onTestFinished(stop);
  return { figures, warnings, stop };
}

export const SILENT = makeLogger('silent');
