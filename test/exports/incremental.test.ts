// Incremental exports: together they hold every state that a row had at one of them, deletions included; none is lost
// where one is broken off. Exports by day. A worker's scheduled ones.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MONEY } from '../../src/contract/money.ts';
import { withLock } from '../../src/db/locks/process-session.ts';
import type { Manifest } from '../../src/exports/manifest.ts';
import { nameTarget } from '../../src/exports/targets/target.ts';
import type { JobContext } from '../../src/worker/queue/job-source.ts';
import { makeExportSource } from '../../src/worker/sources/export-job.ts';
import { makeExportTurns } from '../../src/worker/sources/export-turns.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { BUCKET, type ObjectStorage, startObjectStorage } from '../support/object-storage.ts';
import { runCli } from '../support/run-cli.ts';
import { fillReferrals } from './odd-rows.ts';

const ROWS = 40;

let database: TestDatabase;
let storage: ObjectStorage;
let directory: string;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  storage = await startObjectStorage();
});
afterAll(() => storage.close());
beforeEach(async () => {
  database = await createTestDatabase();
  await fillReferrals(database.pool, ROWS);
  directory = await makeDirectory();
  environment = { DATABASE_URL: database.url, ...storage.environment };
});
afterEach(async () => {
  storage.intercept = null;
});

async function exportChanges(
  target: string,
  name = 'referrals',
  ...flags: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return runCli(['export', name, '--incremental', '--format', 'ndjson', '-o', target, ...flags], environment);
}

/** Changes one row as whoever mirrors it does, and returns its new watermark. */
async function change(id: string, values: string): Promise<string> {
  await database.pool.query(`update referrals set ${values}, _changed_at = clock_timestamp() where id = $1`, [
    id,
  ]);
  const { rows } = await database.pool.query<{ watermark: string }>(
    `select _changed_at as watermark from referrals where id = $1`,
    [id],
  );
  return rows[0]?.watermark ?? '';
}

/** Returns the manifests and rows of every whole export below the directory, oldest first. */
function readExports(
  below = join(directory, 'referrals_changes'),
): { manifest: Manifest; rows: { id: string; _deleted_at: string | null; visits: number }[] }[] {
  if (!existsSync(below)) return [];
  return readdirSync(below)
    .toSorted()
    .map((name) => {
      const manifest: Manifest = JSON.parse(readFileSync(join(below, name, 'manifest.json'), 'utf8'));
      const lines = manifest.files.flatMap(({ path }) =>
        readFileSync(join(below, name, path), 'utf8')
          .trimEnd()
          .split('\n'),
      );
      return { manifest, rows: lines.filter((line) => line !== '').map((line) => JSON.parse(line)) };
    });
}

describe('export --incremental', () => {
  test('exports everything, then what changed with what was marked deleted, then nothing', async () => {
    expect((await exportChanges(directory)).code).toBe(0);
    await change('00000001', 'visits = 77');
    const watermark = await change('00000002', `_deleted_at = now()`);
    expect((await exportChanges(directory)).code).toBe(0);
    const third = await exportChanges(directory, 'referrals', '--json');
    expect(JSON.parse(third.stdout)).toMatchObject({ rows: 0, files: [], since: watermark, watermark });
    expect(third.stderr).toBe('nothing changed: nothing was written\n');
    expect(third.code).toBe(0);
    const [first, second, ...more] = readExports();
    expect(more).toEqual([]);
    expect(first?.rows).toHaveLength(ROWS);
    expect(first?.rows.filter((row) => row._deleted_at !== null)).toHaveLength(ROWS / 5);
    expect(second?.manifest).toMatchObject({
      kind: 'changes',
      object: 'mirror.referrals',
      since: first?.manifest.watermark,
      watermark,
    });
    expect(second?.rows.map(({ id, _deleted_at, visits }) => [id, _deleted_at !== null, visits])).toEqual([
      ['00000001', false, 77],
      ['00000002', true, expect.anything()],
    ]);
  });

  test('of a table that was emptied keeps its watermark, and goes on from there', async () => {
    const readWatermark = async () => {
      const { rows } = await database.pool.query<{ watermark: string }>('select watermark from exports');
      return rows[0]?.watermark;
    };
    expect((await exportChanges(directory)).code).toBe(0);
    const before = await readWatermark();
    expect(before).toEqual(expect.any(String));
    await database.pool.query('delete from referrals');
    expect((await exportChanges(directory)).code).toBe(0);
    expect(await readWatermark()).toBe(before);
    await fillReferrals(database.pool, 3);
    await change('00000003', 'visits = 78');
    expect((await exportChanges(directory)).code).toBe(0);
    expect(readExports().at(-1)?.manifest.since).toBe(before);
  });

  test('of an empty table writes it once, and then nothing until there is a row', async () => {
    expect((await exportChanges(directory, 'campaigns')).code).toBe(0);
    const again = await exportChanges(directory, 'campaigns');
    expect(again.stderr).toBe('nothing changed: nothing was written\n');
    expect(again.code).toBe(0);
    const exported = () => readExports(join(directory, 'campaigns_changes')).map(({ rows }) => rows.length);
    expect(exported()).toEqual([0]);
    await database.pool.query(`insert into campaigns (id, _first_seen_at, _changed_at, _observed_at)
                               values ('c1', now(), now(), now())`);
    expect((await exportChanges(directory, 'campaigns')).code).toBe(0);
    expect(exported()).toEqual([0, 1]);
  });

  test('repeats what a broken export had, and loses nothing', async () => {
    const target = `s3://${BUCKET}/broken`;
    expect((await exportChanges(target)).code).toBe(0);
    await change('00000001', 'visits = 77');
    storage.intercept = (request, response) => {
      if (request.method !== 'PUT' || !request.url?.includes('manifest.json')) return false;
      response.writeHead(403).end();
      return true;
    };
    expect((await exportChanges(target)).code).toBe(1);
    storage.intercept = null;
    await change('00000003', 'visits = 78');
    expect((await exportChanges(target)).code).toBe(0);
    const keys = await storage.list();
    const [last = ''] = keys.filter((key) => key.endsWith('.ndjson')).slice(-1);
    const lines = (await storage.read(last)).toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(['00000001', '00000003']);
    expect(keys).toHaveLength(4);
  });

  test('leaves the target to the process that is at it', async () => {
    const target = nameTarget({ kind: 'directory', path: directory });
    const name = `export changes of referrals to ${target}`;
    const locked = await withLock(database.db, name, () => exportChanges(directory));
    if (locked.isHeldByOther) throw new Error('nobody else has it');
    expect(locked.result.stderr).toContain('another process exports referrals');
    expect(locked.result.code).toBe(1);
    expect(readExports()).toEqual([]);
  });
});

test('--since exports what changed after the watermark of a manifest, to the microsecond', async () => {
  const watermark = await change('00000001', 'visits = 77');
  await change('00000002', 'visits = 77');
  const args = ['--since', watermark, '--format', 'csv', '-o', '-'];
  const { stdout } = await runCli(['export', 'referrals', ...args], environment);
  expect(stdout.split('\n').map((line) => line.split(',')[0])).toEqual(['id', '00000002', '']);
});

test('--partition-by day files each row under its day in UTC, and the manifest names each file', async () => {
  const args = ['--partition-by', 'day', '--format', 'ndjson', '-o', `${directory}/`];
  const { code, stderr } = await runCli(['export', 'mirror.referrals', ...args], environment);
  expect(code, stderr).toBe(0);
  const [written] = readExports(join(directory, 'referrals'));
  const days = await database.pool.query<{ path: string; rows: number }>(
    `select 'day=' || coalesce((created_at at time zone 'UTC')::date::text, '__HIVE_DEFAULT_PARTITION__')
              || '/referrals.ndjson' as path, count(*) as rows
     from referrals group by 1 order by 1`,
  );
  expect(written?.manifest.partitioned_by).toBe('created_at');
  expect(written?.manifest.files.map(({ path, rows }) => ({ path, rows }))).toEqual(days.rows);
  expect(days.rows.length).toBe(4);
  expect(new Set(written?.rows.map(({ id }) => id)).size).toBe(ROWS);
});

describe('a scheduled export', () => {
  const TICK = Date.UTC(2026, 5, 1, 2);
  const context: JobContext = {
    signal: new AbortController().signal,
    waitedMs: 0,
  };
  const makeSource = () =>
    makeExportSource(
      { pool: database.pool, db: database.db, log: pino({ level: 'silent' }), turns: makeExportTurns() },
      {
        mirrorSchema: 'mirror',
        pattern: '0 2 * * *',
        timezone: 'UTC',
        target: { kind: 'directory', path: directory },
        format: 'ndjson',
        money: MONEY.minor,
        whole: ['commission_totals'],
        changes: ['referrals'],
      },
    );

  test('is due once after each tick, for each table and view', async () => {
    const duty = makeSource();
    const moment = { db: database.db, nowMs: Date.now(), madeMs: TICK - 1 };
    expect(await duty.findDue({ ...moment, nowMs: TICK - 1, madeMs: TICK - 2 })).toEqual([]);
    const due = await duty.findDue(moment);
    expect(due.map(({ id }) => id.replace(/\d+$/, 'tick'))).toEqual([
      'export-whole-commission-totals-tick',
      'export-changes-referrals-tick',
    ]);
    for (const one of due) expect(await one.run(context)).toEqual({ kind: 'done' });
    expect(await duty.findDue(moment)).toEqual([]);
    expect(readExports()[0]?.rows).toHaveLength(ROWS);
    expect(readExports(join(directory, 'commission_totals'))).toHaveLength(1);
    // The day after: the changes have nothing to write, and are done all the same.
    await database.pool.query(`update exports set began_at = began_at - interval '2 days'`);
    const again = await duty.findDue(moment);
    expect(again).toHaveLength(2);
    for (const one of again) await one.run(context);
    expect(await duty.findDue(moment)).toEqual([]);
    expect(readExports()).toHaveLength(1);
    expect(readExports(join(directory, 'commission_totals'))).toHaveLength(2);
  });
});
