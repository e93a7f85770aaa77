// An export that fails or is stopped leaves nothing behind, at any target; and what it says names neither secrets nor
// the values of rows.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BUCKET } from '../support/object-storage.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';
import { ROWS, useExporting } from './exporting.ts';

/** Fails at the last row, after four batches were written. */
const FAILS_AT_LAST = `1 / (case id when '${String(ROWS).padStart(8, '0')}' then 0 else 1 end) = 1`;

const given = useExporting();

/** Returns everything that is at any target. */
async function everything(): Promise<string[]> {
  const { storage, directory } = given();
  return [...readdirSync(directory, { recursive: true, encoding: 'utf8' }), ...(await storage.list())];
}

describe('a failure at the last row', () => {
  test.each(['csv', 'ndjson', 'parquet', 'xlsx'])('leaves nothing of %s behind', async (format) => {
    const { storage, directory, run } = given();
    for (const target of [join(directory, `x.${format}`), `${directory}/`, `s3://${BUCKET}/x`]) {
      const { code, stdout, stderr } = await run('--where', FAILS_AT_LAST, '--format', format, '-o', target);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toBe(
        'affiliate-mirror: --where meets a value that it cannot read or compute (SQLSTATE 22012): check its casts and divisions\n',
      );
    }
    expect((await everything()).filter((path) => path.includes('.'))).toEqual([]);
    expect(storage.countUploads()).toBe(0);
  });

  test('leaves the file and the manifest of the time before', async () => {
    const { directory, run } = given();
    const path = join(directory, 'x.csv');
    expect((await run('--where', "id < '00000003'", '-o', path)).code).toBe(0);
    const before = [readFileSync(path, 'utf8'), readFileSync(`${path}.manifest.json`, 'utf8')];
    expect((await run('--where', FAILS_AT_LAST, '-o', path)).code).toBe(2);
    expect([readFileSync(path, 'utf8'), readFileSync(`${path}.manifest.json`, 'utf8')]).toEqual(before);
  });
});

test('a file that only its owner may read stays so when it is replaced', async () => {
  const { directory, run } = given();
  const path = join(directory, 'kept.csv');
  writeFileSync(path, 'old');
  chmodSync(path, 0o600);
  expect((await run('-o', path)).code).toBe(0);
  expect(readFileSync(path, 'utf8')).not.toBe('old');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('the parts of an upload are of one size, as some storages want it, and the last is what is left', async () => {
  const { storage, run } = given();
  const sizes: number[] = [];
  storage.intercept = ({ method, url = '', headers }) => {
    if (method === 'PUT' && url.includes('partNumber=')) sizes.push(Number(headers['content-length']));
    return false;
  };
  expect((await run('--format', 'ndjson', '-o', `s3://${BUCKET}/parts`)).code).toBe(0);
  expect(sizes.length).toBeGreaterThan(2);
  expect(new Set(sizes.slice(0, -1))).toEqual(new Set([5 * 2 ** 20]));
  expect(sizes.at(-1)).toBeLessThan(5 * 2 ** 20);
});

test('an upload that was completed although its answer was lost is removed, and the error says why it failed', async () => {
  const { storage, run } = given();
  const before = await storage.list();
  let isLost = false;
  storage.intercept = ({ method, url = '' }, response) => {
    if (method !== 'POST' || !url.includes('uploadId=')) return false;
    if (isLost) {
      response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
      return true;
    }
    isLost = true;
    response.end = () => {
      response.socket?.destroy();
      return response;
    };
    return false;
  };
  const { code, stderr } = await run('--format', 'ndjson', '-o', `s3://${BUCKET}/lost`);
  expect({ code, isLost }).toEqual({ code: 1, isLost: true });
  expect(stderr).toContain('cannot write to s3://');
  expect(stderr).not.toContain('could not be removed');
  expect(await storage.list()).toEqual(before);
  expect(storage.countUploads()).toBe(0);
});

test('a text that no cell of Excel holds ends the export, which names what holds it', async () => {
  const { database, directory, run } = given();
  const last = String(ROWS).padStart(8, '0');
  const write = (name: string) =>
    database.pool.query('update referrals set customer_name = $1 where id = $2', [name, last]);
  await write('x'.repeat(32_768));
  onTestFinished(() => write('').then(() => undefined));
  const { code, stderr } = await run('-o', join(directory, 'x.xlsx'));
  expect(stderr).toBe(
    'affiliate-mirror: a text of the column customer_name is longer than a cell of Excel may be (32,767 characters): export to CSV or Parquet, or leave its row out with --where\n',
  );
  expect(code).toBe(2);
  expect(readdirSync(directory)).toEqual([]);
  expect((await run('-o', join(directory, 'x.csv'))).code).toBe(0);
});

test('an infinite time, which Parquet cannot hold, ends the export, which names its row', async () => {
  const { database, directory, run } = given();
  const write = (time: string) =>
    database.pool.query(`update referrals set created_at = $1 where id = '00000002'`, [time]);
  await write('-infinity');
  onTestFinished(() => write('2026-01-02T00:00:00Z').then(() => undefined));
  const { code, stderr } = await run('-o', join(directory, 'x.parquet'));
  expect(stderr).toBe(
    'affiliate-mirror: created_at is infinity where id is 00000002, which Parquet cannot hold: correct the row, leave it out with --where, or choose another format\n',
  );
  expect(code).toBe(2);
  expect(readdirSync(directory)).toEqual([]);
});

test('a storage that refuses the access key is named, with neither its secret nor what the storage echoes', async () => {
  const { storage, environment } = given();
  const secret = 'very-secret-key';
  storage.intercept = (_, response) => {
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end(
      `<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message><AWSAccessKeyId>S3RVER</AWSAccessKeyId><StringToSign>${secret}</StringToSign></Error>`,
    );
    return true;
  };
  const { code, stderr } = await runCli(
    ['export', 'mirror.referrals', '--format', 'ndjson', '-o', `s3://${BUCKET}/y`],
    {
      ...environment,
      AWS_SECRET_ACCESS_KEY: secret,
    },
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^affiliate-mirror: cannot write to s3:\/\/exports\/y\S+ at http:\/\/127\S+ it answered 403 SignatureDoesNotMatch\n/,
  );
  expect(stderr).not.toContain(secret);
  expect(stderr).not.toContain('S3RVER');
});

test.each([
  // The database does not answer, and then the storage does not.
  ['a directory', () => `${given().directory}/`, 'pg_sleep(30) is null'],
  ['a bucket', () => `s3://${BUCKET}/stopped`, 'true'],
])('SIGTERM in the middle of an export to %s removes what was written', async (_, target, where) => {
  const { storage, directory, environment } = given();
  const before = await storage.list();
  let hangs = 0;
  storage.intercept = (request) => {
    const isSecondPart = request.url?.includes('partNumber=2') === true;
    hangs += isSecondPart ? 1 : 0;
    return isSecondPart;
  };
  const child = spawnCli(
    ['export', 'mirror.referrals', '--where', where, '--format', 'ndjson', '-o', target()],
    environment,
  );
  const ended = once(child, 'close');
  const said = text(child.stderr);
  await expect.poll(() => hangs > 0 || readdirSync(directory, { recursive: true }).length > 2).toBe(true);
  child.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
  expect(await said).toBe('affiliate-mirror: stopped by SIGTERM\n');
  expect(await storage.list()).toEqual(before);
  expect(storage.countUploads()).toBe(0);
  const left = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  expect(left.filter((path) => path.includes('.'))).toEqual([]);
});

test.each(['csv', 'ndjson', 'parquet'])(
  'a reader of stdout that leaves early is told of no whole %s',
  async (format) => {
    const child = spawnCli(
      ['export', 'mirror.referrals', '--format', format, '-o', '-'],
      given().environment,
    );
    const ended = once(child, 'close');
    const said = text(child.stderr);
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    expect(await ended).toEqual([1, null]);
    expect(await said).toBe(
      'affiliate-mirror: cannot write stdout: its reader ended before everything was written\n',
    );
  },
);

test.runIf(process.platform !== 'win32')('a pipe or a device is not replaced by a file', async () => {
  const { directory, run } = given();
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const { code, stderr } = await run('--format', 'csv', '-o', pipe);
  expect(stderr).toBe(
    `affiliate-mirror: cannot write ${pipe}: it is no regular file; -o - writes to stdout\n`,
  );
  expect(code).toBe(2);
  expect((await lstat(pipe)).isFIFO()).toBe(true);
  expect(readdirSync(directory)).toEqual(['pipe']);
});
