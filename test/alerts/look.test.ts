// One look on a real database: who looks, when the next one is, and what becomes of each alert and of its messages.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { type LookOptions, look } from '../../src/alerts/look.ts';
import { claimNotice } from '../../src/alerts/outbox.ts';
import { ALERT_TIMINGS } from '../../src/alerts/timings.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { createWellMirror, FAST, readAlertStates, readNotices, refuseSecret } from './watching.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createWellMirror();
  db = makeDatabase(database.pool);
});

const OPTIONS: LookOptions = {
  channels: [],
  timings: { ...FAST, lookIntervalMs: 0 },
  maxAgeSeconds: 26 * 3600,
  growth: null,
  isQueueAway: false,
};

/** Looks; returns what was logged. */
async function lookNow(options: Partial<LookOptions> = {}): Promise<string[]> {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  expect(await look({ db, mirrorSchema: 'mirror', log }, { ...OPTIONS, ...options })).toBe(true);
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
  const log = pino({ level: 'silent' });
  try {
    // On every later connection, whoever waits for a lock fails.
    await looking.query(`alter database ${name} set lock_timeout = '10ms'`);
    await looking.query('begin');
    await looking.query('select from alert_watch for update');
    await refuseSecret(database);
    expect(await look({ db, mirrorSchema: 'mirror', log }, OPTIONS)).toBe(false);
    await looking.query('commit');
    expect(await readAlertStates(database)).toEqual([]);
    expect(await look({ db, mirrorSchema: 'mirror', log }, OPTIONS)).toBe(true);
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

  test('is a multiple of what the look took', async () => {
    await lookNow({ timings: { ...OPTIONS.timings, restFactor: 1e6, longestRestMs: 1e12 } });
    // A look takes a millisecond at least.
    expect(await readRest()).toBeGreaterThan(600_000);
  });

  test('has a longest', async () => {
    await lookNow({ timings: { ...OPTIONS.timings, restFactor: 1e9 } });
    expect(await readRest()).toBeLessThanOrEqual(ALERT_TIMINGS.longestRestMs);
    expect(await look({ db, mirrorSchema: 'mirror', log: pino({ level: 'silent' }) }, OPTIONS)).toBe(false);
  });
});

describe('what has not held for long enough', () => {
  test('is neither told nor logged', async () => {
    expect(await lookNow({ isQueueAway: true, channels: ['webhook'] })).toEqual([]);
    expect(await readAlertStates(database)).toEqual(['queue_away noticed']);
    expect(await readNotices(database)).toEqual([]);
    await age(2);
    expect(await lookNow({ isQueueAway: true, channels: ['webhook'] })).toEqual(['alert.opened']);
    expect(await readNotices(database)).toMatchObject([{ kind: 'opened' }]);
  });

  test('is described as it is by then', async () => {
    const fail = (code: string) =>
      database.pool.query(
        `insert into sync_runs (resource, mode, state, finished_at, error, error_code)
         values ('referrals', 'delta', 'failed', now(), 'no', $1)`,
        [code],
      );
    await fail('API_UNREACHABLE');
    await lookNow();
    await fail('CONTRACT_VIOLATION');
    await age(2);
    await lookNow();
    expect(await readAlertStates(database)).toEqual(['sync_failed referrals open']);
    expect(await readAlert('error_code')).toBe('CONTRACT_VIOLATION');
  });
});

describe('what must be well for a while', () => {
  const QUEUE_AWAY = { isQueueAway: true };

  beforeEach(async () => {
    await lookNow(QUEUE_AWAY);
    await age(2);
    await lookNow(QUEUE_AWAY);
    await lookNow();
    expect(await readAlertStates(database)).toEqual(['queue_away open']);
  });

  test('is resolved then, and since when it was well stays known', async () => {
    await age(2);
    expect(await lookNow()).toEqual(['alert.resolved']);
    expect(await readAlert(`resolved_at - well_at >= interval '2 minutes'`)).toBe(true);
  });

  test('begins anew where it was wrong in between', async () => {
    await age(1);
    await lookNow(QUEUE_AWAY);
    expect(await readAlert('well_at')).toBe(null);
    await lookNow();
    await age(1);
    await lookNow();
    expect(await readAlertStates(database)).toEqual(['queue_away open']);
  });
});

test('a channel that is set up later is sent what is open, and the other one no second message', async () => {
  await refuseSecret(database);
  await lookNow({ channels: ['webhook'] });
  await lookNow({ channels: ['webhook', 'email'] });
  await lookNow({ channels: ['webhook', 'email'] });
  expect(await readNotices(database)).toMatchObject([
    { kind: 'opened', channel: 'webhook' },
    { kind: 'opened', channel: 'email' },
  ]);
});

test('what is well again while its message is on its way is followed by the word that it is', async () => {
  await refuseSecret(database);
  await lookNow({ channels: ['webhook'] });
  await claimNotice(db, 'webhook', ALERT_TIMINGS);
  await refuseSecret(database, false);
  await lookNow({ channels: ['webhook'] });
  expect(await readNotices(database)).toMatchObject([
    { kind: 'opened', state: 'pending' },
    { kind: 'resolved', state: 'pending' },
  ]);
});

test('the database refuses a second alert for one cause, and a second message for one channel, whoever writes it', async () => {
  await refuseSecret(database);
  await lookNow({ channels: ['webhook'] });
  for (const again of [
    'insert into alerts (code, what, fix) select code, what, fix from alerts',
    'insert into alert_notices (alert_id, kind, channel) select alert_id, kind, channel from alert_notices',
  ]) {
    await expect(database.pool.query(again), again).rejects.toMatchObject({ code: '23505' });
  }
});
