// Many rows as Parquet, in a file and in several parts of a bucket, are what Postgres has. (A million, and what memory
// they take: npm run bench.)

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { BUCKET, type ObjectStorage, startObjectStorage } from '../support/object-storage.ts';
import { readParquetFile } from '../support/read-parquet.ts';
import { runCliAlone } from '../support/run-cli.ts';
import { fillReferrals } from './odd-rows.ts';

const ROWS = 300_000;
/** Of the columns that are summed: a count beyond JavaScript's numbers, and times. */
const TIMES = ['created_at', '_changed_at', '_deleted_at'];

let database: TestDatabase;
let storage: ObjectStorage;
let directory: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await fillReferrals(database.pool, ROWS);
  storage = await startObjectStorage();
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-exports-'));
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

test('to a file and to a bucket, the same bytes', async () => {
  const path = join(directory, 'referrals.parquet');
  for (const target of [path, `s3://${BUCKET}/many`]) {
    const { code, stderr } = await runCliAlone(
      ['export', 'mirror.referrals', '--format', 'parquet', '-o', target],
      { DATABASE_URL: database.url, ...storage.environment },
    );
    expect(code, stderr).toBe(0);
  }
  const bytes = readFileSync(path);
  expect(summarize(bytes)).toEqual(await summarizeDatabase());
  const [key = ''] = (await storage.list()).filter((one) => one.endsWith('.parquet'));
  expect(bytes.equals(await storage.read(key))).toBe(true);
});

interface Summary {
  readonly rows: number;
  /** By column: how many are null, and the sum of the others. */
  readonly sums: Readonly<Record<string, { readonly nulls: number; readonly sum: string }>>;
  /** By column of text or JSON: how many are null, and the bytes of the others. */
  readonly texts: Readonly<Record<string, { readonly nulls: number; readonly bytes: number }>>;
}

const SUMMED = ['visits', ...TIMES];
const TEXTS = ['customer_name', 'coupon', '_extra'];

function summarize(bytes: Uint8Array): Summary {
  const { columns } = readParquetFile(bytes, ['id', ...SUMMED, ...TEXTS]);
  const nulls = (name: string) => columns[name]?.filter((value) => value == null).length ?? 0;
  return {
    rows: columns['id']?.length ?? 0,
    sums: Object.fromEntries(
      SUMMED.map((name) => {
        const sum = (columns[name] ?? []).reduce<bigint>(
          (total, value) => total + BigInt((value as bigint) ?? 0),
          0n,
        );
        return [name, { nulls: nulls(name), sum: String(sum) }];
      }),
    ),
    texts: Object.fromEntries(
      TEXTS.map((name) => {
        const length = (columns[name] ?? []).reduce<number>(
          (total, value) => total + Buffer.byteLength(String(value ?? '')),
          0,
        );
        return [name, { nulls: nulls(name), bytes: length }];
      }),
    ),
  };
}

async function summarizeDatabase(): Promise<Summary> {
  const micros = (name: string) =>
    TIMES.includes(name) ? `(extract(epoch from ${name}) * 1000000)::bigint` : name;
  const sums = SUMMED.map(
    (name) =>
      `'${name}', jsonb_build_object('nulls', count(*) - count(${name}), 'sum', sum(${micros(name)})::text)`,
  );
  const texts = TEXTS.map(
    (name) =>
      `'${name}', jsonb_build_object('nulls', count(*) - count(${name}), 'bytes', sum(octet_length(${name}::text)))`,
  );
  const { rows } = await database.pool.query<Summary>(
    `select count(*) as rows, jsonb_build_object(${sums}) as sums, jsonb_build_object(${texts}) as texts from referrals`,
  );
  return rows[0] as Summary;
}
