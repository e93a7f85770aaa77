// One look on a real database: who looks, when the next one is, and what becomes of each alert and of its messages.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { openRun } from '../../../src/mirror/runs/open-run.ts';
import { type OwnRun, saveProgress, stopRun } from '../../../src/mirror/runs/sync-runs.ts';
import { type EvaluateOptions, evaluateAlerts } from '../../../src/observe/alerts/evaluate.ts';
import { claimNotices, type DueNotice } from '../../../src/observe/alerts/outbox.ts';
import { ALERT_TIMINGS } from '../../../src/observe/alerts/timings.ts';
import { findConcerns } from '../../../src/reports/find-concerns.ts';
import { readHealth } from '../../../src/reports/read-health.ts';
import type { TestDatabase } from '../../support/database.ts';
import { makeScraper, observe, readValue } from '../metrics/scrape.ts';
import { createWellMirror, FAST, readAlertStates, readNotices, refuseSecret } from './watching.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createWellMirror();
  db = makeDatabase(database.pool);
});

const OPTIONS: EvaluateOptions = {
  channels: [],
  timings: { ...FAST, evaluateEveryMs: 0 },
  maxAgeSeconds: 26 * 3600,
  growth: null,
  isQueueAway: false,
};

/** Of the last look. */
let due: DueNotice[] = [];

/** Looks; returns what was logged. */
async function evaluateNow(options: Partial<EvaluateOptions> = {}): Promise<string[]> {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const reader = { db, mirrorSchema: 'mirror', log };
  const { hasEvaluated, pending } = await evaluateAlerts(reader, { ...OPTIONS, ...options });
  expect(hasEvaluated).toBe(true);
  due = pending.map((notice) => ({ ...notice, program: observe(db) }));
  return lines.map((line) => Object(line).msg);
}

async function readAlert(what: string): Promise<unknown> {
  const { rows } = await database.pool.query(`select ${what} as value from alerts`);
  return rows[0]?.value;
}

const age = (minutes: number) =>
  database.pool.query(
    `update alerts set noticed_at = noticed_at - make_interval(mins => $1),
       well_at = well_at - make_interval(mins => $1)`,
    [minutes],
  );

test('while one worker looks another one does not, nor waits for it', async () => {
  const looking = await database.pool.connect();
  const name = new URL(database.url).pathname.slice(1);
  const reader = { db, mirrorSchema: 'mirror', log: pino({ level: 'silent' }) };
  try {
    // On every later connection, whoever waits for a lock fails.
    await looking.query(`alter database ${name} set lock_timeout = '10ms'`);
    await looking.query('begin');
    await looking.query('select from alert_watch for update');
    await refuseSecret(database);
    expect((await evaluateAlerts(reader, OPTIONS)).hasEvaluated).toBe(false);
    await looking.query('commit');
    expect(await readAlertStates(database)).toEqual([]);
    expect((await evaluateAlerts(reader, OPTIONS)).hasEvaluated).toBe(true);
    expect(await readAlertStates(database)).toEqual(['secret_refused open']);
  } finally {
    looking.release();
  }
});

describe('the rest after a look', () => {
  const readRest = async () => {
    const { rows } = await database.pool.query<{ ms: number }>(
      `select (extract(epoch from next_look_at - clock_timestamp()) * 1000)::float8 as ms from alert_watch`,
    );
    return rows[0]?.ms;
  };

  test('has a longest', async () => {
    await evaluateNow({ timings: { ...OPTIONS.timings, restFactor: 1e9 } });
    expect(await readRest()).toBeLessThanOrEqual(ALERT_TIMINGS.longestRestMs);
    const reader = { db, mirrorSchema: 'mirror', log: pino({ level: 'silent' }) };
    expect((await evaluateAlerts(reader, OPTIONS)).hasEvaluated).toBe(false);
  });
});

describe('what has not held for long enough', () => {
  test('is neither told nor logged', async () => {
    expect(await evaluateNow({ isQueueAway: true, channels: ['webhook'] })).toEqual([]);
    expect(await readAlertStates(database)).toEqual(['queue_away noticed']);
    expect(await readNotices(database)).toEqual([]);
    await age(2);
    expect(await evaluateNow({ isQueueAway: true, channels: ['webhook'] })).toEqual(['alert.opened']);
    expect(await readNotices(database)).toMatchObject([{ kind: 'opened' }]);
  });
});

describe('what must be well for a while', () => {
  const QUEUE_AWAY = { isQueueAway: true };

  beforeEach(async () => {
    await evaluateNow(QUEUE_AWAY);
    await age(2);
    await evaluateNow(QUEUE_AWAY);
    await evaluateNow();
    expect(await readAlertStates(database)).toEqual(['queue_away open']);
  });

  test('is resolved then, and since when it was well stays known', async () => {
    await age(2);
    expect(await evaluateNow()).toEqual(['alert.resolved']);
    expect(await readAlert(`resolved_at - well_at >= interval '2 minutes'`)).toBe(true);
  });
});

test('a failure is as old as the first one since the last success: in alert, metric and verdict alike', async () => {
  const resource = 'referrals';
  const reader = { db, mirrorSchema: 'mirror' };
  const readSince = async () => {
    const { health } = await readHealth(reader);
    const concerns = findConcerns(health, { maxAgeSeconds: OPTIONS.maxAgeSeconds });
    return concerns.find(({ code }) => code === 'sync_failed')?.since ?? null;
  };
  const fail = async (run: OwnRun) => {
    const error = { state: 'failed', code: 'API_UNAVAILABLE', message: 'away', requests: 1 } as const;
    expect((await stopRun(db, run, error))?.state).toBe('failed');
  };
  const rows = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };
  const progress = { requests: 1, pages: 1, rows, distinct: 0, totalUpstream: 4, checkpoint: { page: 1 } };
  const { run } = await openRun(db, { resource, mode: 'delta' });
  await saveProgress(db, run, progress);
  await fail(run);
  const first = await readSince();
  expect(first).not.toBe(null);
  // Resumed at its checkpoint, which makes its end a later one; then a run of its own.
  for (const mode of ['delta', 'full'] as const) {
    const { run: next } = await openRun(db, { resource, mode });
    expect((await readHealth(reader)).health.resources[1]).toMatchObject({ failing_since: first });
    await fail(next);
    expect(await readSince()).toBe(first);
  }
  await evaluateNow();
  await age(2);
  await evaluateNow();
  expect(await readAlertStates(database)).toEqual(['sync_failed referrals open']);
  expect(await readAlert('since')).toBe(first);
  const scraped = await makeScraper(database.pool).scrape();
  const series = 'affiliate_mirror_concern_since_timestamp_seconds{code="sync_failed",resource="referrals"}';
  expect(readValue(scraped, series)).toBeCloseTo(Date.parse(String(first)) / 1000, 2);

  await database.pool.query(
    `insert into sync_runs (resource, mode, state, verified, finished_at) values ('referrals', 'full', 'succeeded', true, now())`,
  );
  const { run: later } = await openRun(db, { resource, mode: 'full' });
  await fail(later);
  expect(Date.parse(String(await readSince()))).toBeGreaterThan(Date.parse(String(first)));
});

test('a channel that is set up later is sent what is open, and the other one no second message', async () => {
  await refuseSecret(database);
  await evaluateNow({ channels: ['webhook'] });
  await evaluateNow({ channels: ['webhook', 'email'] });
  await evaluateNow({ channels: ['webhook', 'email'] });
  expect(await readNotices(database)).toMatchObject([
    { kind: 'opened', channel: 'webhook' },
    { kind: 'opened', channel: 'email' },
  ]);
});

test('what is well again while its message is on its way is followed by the word that it is', async () => {
  await refuseSecret(database);
  await evaluateNow({ channels: ['webhook'] });
  await claimNotices(due, ALERT_TIMINGS);
  await refuseSecret(database, false);
  await evaluateNow({ channels: ['webhook'] });
  expect(await readNotices(database)).toMatchObject([
    { kind: 'opened', state: 'pending' },
    { kind: 'resolved', state: 'pending' },
  ]);
});

test('what is well again before its message is claimed is not sent at all', async () => {
  await refuseSecret(database);
  await evaluateNow({ channels: ['webhook'] });
  await refuseSecret(database, false);
  await evaluateNow({ channels: ['webhook'] });
  expect(await readNotices(database)).toMatchObject([{ kind: 'opened', state: 'skipped' }]);
});

test('the database refuses a second alert for one cause, and a second message for one channel, whoever writes it', async () => {
  await refuseSecret(database);
  await evaluateNow({ channels: ['webhook'] });
  for (const again of [
    'insert into alerts (code, what, fix) select code, what, fix from alerts',
    'insert into alert_notices (alert_id, kind, channel) select alert_id, kind, channel from alert_notices',
  ]) {
    await expect(database.pool.query(again), again).rejects.toMatchObject({ code: '23505' });
  }
});
