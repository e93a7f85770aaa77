// Every format at every target holds what Postgres has: each value, each null, in the same order.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../src/exports/manifest.ts';
import { manifest } from '../../src/exports/manifest.ts';
import { storeLargestAmounts } from '../reports/store-rows.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { BUCKET, startObjectStorage } from '../support/object-storage.ts';
import { readParquetFile } from '../support/read-parquet.ts';
import { runCli } from '../support/run-cli.ts';
import { fillReferrals } from './odd-rows.ts';
import { readBack, readDatabase } from './read-back.ts';

/** More than a group of Parquet's rows. */
const ROWS = 5100;
const RELATION = 'mirror.referrals';
const FORMATS = ['csv', 'ndjson', 'parquet', 'xlsx'] as const;

const database = await createTestDatabase();
await fillReferrals(database.pool, ROWS);
const storage = await startObjectStorage();
const directory = await makeDirectory();
const environment = { DATABASE_URL: database.url, ...storage.environment };
afterAll(async () => {
  await storage.close();
});

interface Export {
  readonly manifest: Manifest;
  readonly bytes: Buffer;
}

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runCli(['export', ...args], environment);
  expect(code, stderr).toBe(0);
  return { stdout, stderr };
}

function readManifest(bytes: Buffer): Manifest {
  return manifest.parse(JSON.parse(bytes.toString()));
}

/** By the kind of the target: exports to it, and returns the one file. */
const TARGETS = {
  async file(format: string): Promise<Export> {
    const path = join(directory, `referrals.${format}`);
    await run(RELATION, '-o', path);
    return { manifest: readManifest(readFileSync(`${path}.manifest.json`)), bytes: readFileSync(path) };
  },
  async directory(format: string): Promise<Export> {
    const { stdout, stderr } = await run(RELATION, '--format', format, '--json', '-o', `${directory}/`);
    const [, location = ''] = /written: (.+) \(5,100 rows\)/.exec(stderr) ?? [];
    const manifest = readManifest(readFileSync(join(location, 'manifest.json')));
    expect(JSON.parse(stdout)).toEqual(manifest);
    return { manifest, bytes: readFileSync(join(location, `referrals.${format}`)) };
  },
  async 'prefix of a bucket'(format: string): Promise<Export> {
    await run(RELATION, '--format', format, '-o', `s3://${BUCKET}/by/${format}`);
    const keys = (await storage.list()).filter((key) => key.startsWith(`by/${format}/`));
    const manifestKey = keys.find((key) => key.endsWith('/manifest.json')) ?? '';
    const fileKey = `${dirname(manifestKey)}/referrals.${format}`;
    expect(keys).toEqual([manifestKey, fileKey].toSorted());
    return { manifest: readManifest(await storage.read(manifestKey)), bytes: await storage.read(fileKey) };
  },
};

describe.each(Object.entries(TARGETS))('an export to a %s', (_, exportTo) => {
  test.each(FORMATS)('as %s is what Postgres has, and its manifest says so', async (format) => {
    const { manifest, bytes } = await exportTo(format);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = { path: `referrals.${format}`, rows: ROWS, bytes: bytes.length, sha256 };
    const own = { object: RELATION, kind: 'whole', format, rows: ROWS, since: null, where: null };
    expect(manifest).toMatchObject({ ...own, files: [file], watermark: await readWatermark() });
    const read = await readBack(format, bytes, manifest.columns);
    const wanted = await readDatabase(database.pool, RELATION, manifest.columns);
    if (format !== 'xlsx') expectSame(read, wanted);
    else expectSame(inExcel(read, manifest), inExcel(wanted, manifest));
  });
});

async function readWatermark(): Promise<string | undefined> {
  const { rows } = await database.pool.query('select max(_changed_at) as watermark from referrals');
  return rows[0]?.watermark;
}

/** What a difference of a thousand rows is shown as: its first row. */
function expectSame(read: readonly unknown[][], wanted: readonly unknown[][]): void {
  const index = wanted.findIndex((row, place) => JSON.stringify(row) !== JSON.stringify(read[place]));
  expect(read[index]).toEqual(wanted[index]);
  expect(read.length).toBe(wanted.length);
}

/** Excel has milliseconds, no empty text beside an empty cell, and one kind of line break. */
function inExcel(rows: readonly (string | null)[][], { columns }: Manifest): (string | null)[][] {
  return rows.map((row) =>
    row.map((value, index) => {
      if (value === null || value === '') return null;
      if (columns[index]?.type !== 'timestamp with time zone') return value.replaceAll('\r\n', '\n');
      return String(Math.floor(Number(value) / 1000));
    }),
  );
}

test.each(FORMATS)('a sum of amounts that no bigint holds has all of its digits as %s', async (format) => {
  const { pool, url } = await createTestDatabase();
  await storeLargestAmounts(pool, 1100);
  const path = join(directory, `sums.${format}`);
  const { code, stderr } = await runCli(['export', 'payouts_due', '-o', path], { DATABASE_URL: url });
  expect(code, stderr).toBe(0);
  const { columns } = readManifest(readFileSync(`${path}.manifest.json`));
  const [row = []] = await readBack(format, readFileSync(path), columns);
  const place = columns.findIndex(({ name }) => name === 'amount');
  const sum = format === 'xlsx' ? '99079191802150901.00' : '9907919180215090100';
  expect([columns[place]?.type, row[place]]).toEqual(['numeric(38,0)', sum]);
});

test('days before and after 1970 are the same in Parquet', async () => {
  const { pool, url } = await createTestDatabase();
  const days = ['1931-02-01', '1969-12-01', '1970-01-01', '2026-10-01'];
  await pool.query(
    `insert into commissions (id, amount, currency, due_at, _first_seen_at, _changed_at, _observed_at)
     select day, 5, 'USD', day::timestamp at time zone 'UTC', now(), now(), now() from unnest($1::text[]) day`,
    [days],
  );
  const path = join(directory, 'days.parquet');
  const { code, stderr } = await runCli(['export', 'commission_aging', '-o', path], { DATABASE_URL: url });
  expect(code, stderr).toBe(0);
  const { types, columns } = readParquetFile(readFileSync(path));
  expect(types['month']).toBe('Date32<DAY>');
  expect(columns['month']?.map((ms) => new Date(Number(ms)).toISOString().slice(0, 10))).toEqual(days);
});
