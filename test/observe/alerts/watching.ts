// What the tests of alerts share: watchers, and mirrors with something wrong.

import type { Logger } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import type { Channel } from '../../../src/observe/alerts/message.ts';
import { ALERT_TIMINGS, type AlertTimings } from '../../../src/observe/alerts/timings.ts';
import { watchAlerts } from '../../../src/observe/alerts/watch.ts';
import { makeFigureCache } from '../../../src/observe/metrics/figure-cache.ts';
import type { GrowthDeps } from '../../../src/reports/read-growth.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { observe } from '../metrics/scrape.ts';

export const FAST: AlertTimings = {
  ...ALERT_TIMINGS,
  evaluateEveryMs: 50,
  evaluateListedEveryMs: 50,
  restFactor: 0,
  firstPauseMs: 50,
  longestPauseMs: 300,
};

/** Returns a database with a mirror with which all is well. */
export async function createWellMirror(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.pool.query(`
    insert into sync_runs (resource, mode, state, verified, finished_at)
    select unnest(array['affiliates', 'referrals']), 'full', 'succeeded', true, now()`);
  return database;
}

export interface Watcher {
  stop(): Promise<void>;
  readonly warnings: readonly unknown[];
}

export interface WatcherSettings {
  readonly channels?: readonly Channel[];
  readonly log?: Logger;
  readonly timings?: Partial<AlertTimings>;
  readonly checkQueue?: () => Promise<unknown>;
  readonly readSpace?: GrowthDeps['readSpace'];
}

/** Returns a watcher with connections of its own; it ends with the test. */
export function startWatcher(database: TestDatabase, settings: WatcherSettings = {}): Watcher {
  const { log = makeLogger('silent') } = settings;
  const { readSpace = async () => null } = settings;
  const pool = makePool({ log }, { url: database.url, schema: 'mirror', max: 3, applicationName: 'watcher' });
  const stopping = new AbortController();
  const warnings: unknown[] = [];
  const program = observe(makeDatabase(pool), { log, readSpace });
  const watching = watchAlerts(
    {
      programs: () => [program],
      figures: makeFigureCache(),
      channels: settings.channels ?? [],
      checkQueue: settings.checkQueue ?? (async () => {}),
      warn: (error) => warnings.push(error),
    },
    { signal: stopping.signal, maxAgeSeconds: 26 * 3600, timings: { ...FAST, ...settings.timings } },
  );
  let ended: Promise<void> | null = null;
  const stop = () => {
    stopping.abort();
    ended ??= watching.then(() => pool.end());
    return ended;
  };
  onTestFinished(stop);
  return { stop, warnings };
}

/** Has the program refuse the secret, as a worker notes it; or accept it. */
export async function refuseSecret({ pool }: TestDatabase, isRefused = true): Promise<void> {
  await pool.query(
    `update worker_state set refused_at = case when $1 then now() end,
     refused_code = case when $1 then 'API_UNAUTHORIZED' end`,
    [isRefused],
  );
}

/** Resolves once workers have looked so many times more. */
export async function waitForLooks({ pool }: TestDatabase, looks = 3): Promise<void> {
  const read = async () =>
    (await pool.query<{ at: string }>(`select next_look_at::text as at from alert_watch`)).rows[0]?.at;
  let last = await read();
  for (let seen = 0; seen < looks; seen += 1) {
    await expect.poll(read).not.toBe(last);
    last = await read();
  }
}

export interface NoticeRow {
  readonly kind: string;
  readonly channel: string;
  readonly state: string;
  readonly last_error_code: string | null;
}

export async function readNotices({ pool }: Pick<TestDatabase, 'pool'>): Promise<NoticeRow[]> {
  const { rows } = await pool.query<NoticeRow>(
    'select kind, channel, state, last_error_code from alert_notices order by id',
  );
  return rows;
}

/** Returns the alerts as `code resource state`. */
export async function readAlertStates({ pool }: { pool: Pool }): Promise<string[]> {
  const { rows } = await pool.query<{ one: string }>(`
    select concat_ws(' ', code, resource,
      case when resolved_at is not null then 'resolved' when opened_at is not null then 'open' else 'noticed' end) as one
    from alerts order by id`);
  return rows.map(({ one }) => one);
}
