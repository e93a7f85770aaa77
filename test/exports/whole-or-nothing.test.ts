// An export that fails or is stopped leaves nothing behind, at any target; and what it says names neither secrets nor
// the values of rows.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exportRelation } from '../../src/exports/export-relation.ts';
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

test('a storage that takes longer than a snapshot may stay is named, not a Postgres that does not run', async () => {
  const { database, storage, environment } = given();
  const { pool } = database;
  const before = await storage.list();
  storage.intercept = ({ url = '' }, response) => {
    if (!url.includes('partNumber=1')) return false;
    const answer = () => response.writeHead(200, { etag: '"of-a-slow-storage"' }).end();
    waitUntilNobodyReads(pool).then(answer, answer);
    return true;
  };
  const access = {
    endpoint: environment['AWS_ENDPOINT_URL'] ?? '',
    region: 'us-east-1',
    accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    sessionToken: null,
  };
  const exporting = exportRelation(pool, {
    mirrorSchema: 'mirror',
    name: 'mirror.referrals',
    format: 'ndjson',
    target: { kind: 's3', access, bucket: BUCKET, prefix: 'slow' },
    where: null,
    isByDay: false,
    since: null,
    isForChanges: false,
    isWrittenIfEmpty: true,
    signal: new AbortController().signal,
    longestPauseMs: 1000,
  });
  await expect(exporting).rejects.toMatchObject({
    code: 'EXPORT_TARGET_UNWRITABLE',
    message: expect.stringMatching(
      /^cannot write s3:\/\/exports\/slow\S+: it took nothing more for 1 minute, or/,
    ),
  });
  expect(await storage.list()).toEqual(before);
  expect(storage.countUploads()).toBe(0);
});

async function waitUntilNobodyReads(pool: Pool): Promise<void> {
  const read = async () => {
    const { rows } = await pool.query<{ readers: number }>(`
      select count(*)::int as readers from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`);
    return rows[0]?.readers;
  };
  await expect.poll(read).toBe(0);
}

test('an object that the storage does not remove is the only one that stays', async () => {
  const { storage, run } = given();
  const before = await storage.list();
  const stays: (string | undefined)[] = [];
  storage.intercept = ({ method, url = '' }, response) => {
    const isManifest = method === 'PUT' && url.includes('manifest.json');
    const isFirst = method === 'DELETE' && !url.includes('manifest.json') && stays.length === 0;
    if (isFirst) stays.push(url.split(`/${BUCKET}/`)[1]);
    if (isManifest || isFirst) response.writeHead(403).end();
    return isManifest || isFirst;
  };
  const few = ['--where', "id < '00000040'", '--partition-by', 'day', '--format', 'ndjson'];
  const { code, stderr } = await run(...few, '-o', `s3://${BUCKET}/days`);
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('could not be removed'),
  });
  const left = (await storage.list()).filter((key) => !before.includes(key));
  expect(left).toHaveLength(1);
  expect(left).toEqual(stays.map((key) => decodeURIComponent(key ?? '')));
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

test('a manifest that was stored although the answer was an error is removed, and before what it names', async () => {
  const { storage, run } = given();
  const before = await storage.list();
  const removed: boolean[] = [];
  storage.intercept = ({ method, url = '' }, response) => {
    const isManifest = url.includes('manifest.json');
    if (method === 'DELETE') removed.push(isManifest);
    if (method === 'PUT' && isManifest) {
      const { writeHead } = response;
      response.writeHead = () => writeHead.call(response, 403);
    }
    return false;
  };
  const { code, stderr } = await run(
    '--where',
    "id < '00000040'",
    '--format',
    'csv',
    '-o',
    `s3://${BUCKET}/told`,
  );
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('it answered 403') });
  expect(removed).toEqual([true, false]);
  expect(await storage.list()).toEqual(before);
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
      'affiliate-mirror: cannot write stdout: its reader had gone before all of it was written\n',
    );
  },
);

// Node's own recursive mkdir never returns there.
test.runIf(process.platform === 'linux')('a directory that cannot be made ends the export', async () => {
  const { run } = given();
  const { code, stderr } = await run('--format', 'csv', '-o', '/proc/none/');
  expect(stderr).toMatch(/^affiliate-mirror: cannot write \/proc\/none\/referrals\/.*ENOENT.*\n$/);
  expect(code).toBe(1);
});

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

test('a directory that cannot be written is named', async () => {
  const { directory, run } = given();
  writeFileSync(join(directory, 'taken'), '');
  const { code, stderr } = await run('--format', 'csv', '-o', join(directory, 'taken', 'x/'));
  expect(stderr).toContain('ENOTDIR: not a directory');
  expect(code).toBe(1);
});
