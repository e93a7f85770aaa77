// What an export refuses before it writes anything: a condition, or arguments that do not fit together.

import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';
import { fillReferrals } from './odd-rows.ts';

const database = await createTestDatabase();
await fillReferrals(database.pool, 10);

const runExport = (...args: string[]) => runCli(['export', ...args], { DATABASE_URL: database.url });
const run = (...args: string[]) => runExport('mirror.referrals', ...args);

describe('a --where that', () => {
  test.each([
    ['is no SQL', 'paid is is', 'syntax error at or near "is"'],
    ['closes no quote', "id = 'a", 'unterminated quoted string at or near "\'a\n'],
    ['names no column', 'nothing = 1', 'column "nothing" does not exist'],
    ['is more than a condition', 'true); drop table referrals; select (true', 'multiple commands'],
    ['writes', "setval('mirror.sync_runs_id_seq', 1) = 1", 'read-only transaction'],
  ])('%s is refused with exit code 2, by the words of Postgres', async (_, where, words) => {
    const { code, stderr } = await run('--where', where, '--format', 'csv', '-o', '-');
    expect(code).toBe(2);
    expect(stderr).toContain('affiliate-mirror: --where is not accepted by the database: ');
    expect(stderr).toContain(words);
    expect(stderr).toMatch(/^.*\n$/);
  });

  test('cannot read a value does not show the value', async () => {
    const { code, stderr } = await run('--where', 'customer_name::int = 1', '--format', 'csv', '-o', '-');
    expect(code).toBe(2);
    expect(stderr).toContain('SQLSTATE 22P02');
    expect(stderr).not.toContain('plain');
  });
});

describe('what does not fit together is said at once:', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    [
      'a name that there is not',
      ['nothing', '-o', 'x.csv'],
      'there is no table or view nothing to export: name one of',
    ],
    ['bookkeeping', ['seen_rows', '-o', 'x.csv'], 'there is no table or view seen_rows'],
    [
      'changes of a view',
      ['commission_totals', '--since', '2026-01-01T00:00:00Z', '-o', 'x.csv'],
      'has no columns _changed_at',
    ],
    ['a file for several exports', ['referrals', '--incremental', '-o', 'x.csv'], 'give a directory'],
    ['several files in one', ['referrals', '--partition-by', 'day', '-o', 'x.csv'], 'give a directory'],
    ['no format', ['referrals', '-o', 'x'], 'add --format csv|ndjson|parquet|xlsx'],
    ['no directory', ['mirror.referrals', '-o', '/nowhere/x.csv'], 'there is no directory /nowhere'],
    [
      'an empty target',
      ['referrals', '--format', 'csv', '-o', ''],
      "option '-o, --output <target>' is empty",
    ],
    ['no bucket', ['referrals', '--format', 'csv', '-o', 's3://'], 'must be s3://bucket/prefix'],
    ['another bucket', ['referrals', '--format', 'csv', '-o', 's3://one/../b'], 'no empty part, . or .. in'],
    [
      'an address of another kind',
      ['referrals', '--format', 'csv', '-o', 'gs://bucket/x'],
      '-o begins with gs://, where exports cannot go: give a file, a directory, s3://bucket/prefix, or - for stdout',
    ],
  ];
  test.each(cases)('%s', async (_, args, words) => {
    const { code, stderr } = await runExport(...args);
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  });

  test('a bucket without an access key', async () => {
    const { code, stderr } = await runExport('referrals', '--format', 'csv', '-o', 's3://bucket/y');
    expect(stderr).toContain('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
    expect(code).toBe(2);
  });
});
