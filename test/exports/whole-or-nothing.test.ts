// An export that fails or is stopped leaves nothing behind, at any target; and what it says names neither secrets nor
// the values of rows.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { type FileHandle, lstat, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Delivery } from '../../src/exports/targets/delivery.ts';
import { deliverFile, deliverIntoDirectory } from '../../src/exports/targets/local.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { BUCKET, type ObjectStorage, startObjectStorage } from '../support/object-storage.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';
import { fillReferrals } from './odd-rows.ts';

const ROWS = 5000;
/** Fails at the last row, after four batches were written. */
const FAILS_AT_LAST = `1 / (case id when '${String(ROWS).padStart(8, '0')}' then 0 else 1 end) = 1`;

let database: TestDatabase;
let storage: ObjectStorage;
let directory: string;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  database = await createTestDatabase();
  await fillReferrals(database.pool, ROWS);
  // Enough bytes for an upload in parts.
  await database.pool.query(`update referrals set coupon = to_jsonb(repeat(md5(id), 100))`);
  storage = await startObjectStorage();
  environment = { DATABASE_URL: database.url, ...storage.environment };
});
afterAll(() => storage.close());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-exports-'));
});
afterEach(async () => {
  storage.intercept = null;
  await rm(directory, { recursive: true, force: true });
});

const run = (...args: string[]) => runCli(['export', 'mirror.referrals', ...args], environment);

/** Returns everything that is at any target. */
async function everything(): Promise<string[]> {
  return [...readdirSync(directory, { recursive: true, encoding: 'utf8' }), ...(await storage.list())];
}

describe('a failure at the last row', () => {
  test.each(['csv', 'ndjson', 'parquet', 'xlsx'])('leaves nothing of %s behind', async (format) => {
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
    const path = join(directory, 'x.csv');
    expect((await run('--where', "id < '00000003'", '-o', path)).code).toBe(0);
    const before = [readFileSync(path, 'utf8'), readFileSync(`${path}.manifest.json`, 'utf8')];
    expect((await run('--where', FAILS_AT_LAST, '-o', path)).code).toBe(2);
    expect([readFileSync(path, 'utf8'), readFileSync(`${path}.manifest.json`, 'utf8')]).toEqual(before);
  });
});

test('a text that no cell of Excel holds ends the export, which names what holds it', async () => {
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
    ['no bucket', ['referrals', '--format', 'csv', '-o', 's3://'], 'must be s3://bucket/prefix'],
  ];
  test.each(cases)('%s', async (_, args, words) => {
    const { code, stderr } = await runCli(['export', ...args], environment);
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  });

  test('a bucket without an access key', async () => {
    const { code, stderr } = await runCli(['export', 'referrals', '--format', 'csv', '-o', 's3://bucket/y'], {
      DATABASE_URL: database.url,
    });
    expect(stderr).toContain('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
    expect(code).toBe(2);
  });
});

describe('a storage that', () => {
  const ARGS = ['--format', 'ndjson', '-o', `s3://${BUCKET}/y`];

  test('refuses the access key is named, with neither its secret nor what the storage echoes', async () => {
    const secret = 'very-secret-key';
    storage.intercept = (_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end(
        `<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message><AWSAccessKeyId>S3RVER</AWSAccessKeyId><StringToSign>${secret}</StringToSign></Error>`,
      );
      return true;
    };
    const { code, stderr } = await runCli(['export', 'mirror.referrals', ...ARGS], {
      ...environment,
      AWS_SECRET_ACCESS_KEY: secret,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^affiliate-mirror: cannot write to s3:\/\/exports\/y\S+ at http:\/\/127\S+ it answered 403 SignatureDoesNotMatch: AWS_SECRET_ACCESS_KEY does not fit/,
    );
    expect(stderr).not.toContain(secret);
    expect(stderr).not.toContain('S3RVER');
  });

  // A put, an upload in parts, and what removes it where its end is refused.
  test.each([
    ['keeps the export', 0, null],
    ['is rid of it', 1, /manifest\.json/],
    ['is rid of its parts', 1, /partNumber=2/],
  ])('asks for a session token gets it, signed, with every request, and %s', async (_, code, refused) => {
    const token = 'FwoGZXIvYXdzEBYaD/session+token==';
    const before = await storage.list();
    const without: unknown[] = [];
    storage.intercept = ({ headers, method, url = '' }, response) => {
      const isSigned = headers.authorization?.includes(';x-amz-security-token,') === true;
      if (headers['x-amz-security-token'] !== token || !isSigned) without.push([method, url]);
      if (method !== 'PUT' || refused?.test(url) !== true) return false;
      response.writeHead(403).end();
      return true;
    };
    const ran = await runCli(['export', 'mirror.referrals', ...ARGS], {
      ...environment,
      AWS_SESSION_TOKEN: token,
    });
    expect(ran.code, ran.stderr).toBe(code);
    expect(ran.stderr).not.toContain(token);
    expect(without).toEqual([]);
    storage.intercept = null;
    expect(await storage.list()).toHaveLength(before.length + (code === 0 ? 2 : 0));
    expect(storage.countUploads()).toBe(0);
  });

  test.each([
    ['ExpiredToken', 'the temporary access key is over: set AWS_SESSION_TOKEN'],
    ['InvalidToken', 'AWS_SESSION_TOKEN does not belong to AWS_ACCESS_KEY_ID'],
    ['InvalidAccessKeyId', 'a temporary one needs its AWS_SESSION_TOKEN'],
  ])('answers %s is explained', async (error, words) => {
    storage.intercept = (_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end(`<Error><Code>${error}</Code></Error>`);
      return true;
    };
    const { code, stderr } = await run(...ARGS);
    expect(stderr).toContain(`it answered 403 ${error}: `);
    expect(stderr).toContain(words);
    expect(code).toBe(1);
  });

  // The second one says so in the body of a 200 alone.
  test.each([
    ['answers 503', 'PUT', 503],
    ['does not put the parts together', 'POST', 200],
  ])('%s is asked again', async (_, method, status) => {
    const before = await storage.list();
    let refusals = 0;
    storage.intercept = (request, response) => {
      const isCompletion = request.url?.includes('uploadId') === true;
      if (request.method !== method || !isCompletion || refusals > 0) return false;
      refusals += 1;
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end('<Error><Code>InternalError</Code></Error>');
      return true;
    };
    expect((await run(...ARGS)).code).toBe(0);
    expect(refusals).toBe(1);
    expect(await storage.list()).toHaveLength(before.length + 2);
  });

  test.each([
    ['a part', /partNumber=2/],
    ['the manifest', /manifest\.json/],
  ])('refuses %s keeps nothing of the export', async (_, url) => {
    const before = await storage.list();
    storage.intercept = (request, response) => {
      if (request.method !== 'PUT' || !url.test(request.url ?? '')) return false;
      response.writeHead(403).end();
      return true;
    };
    const { code, stderr } = await run(...ARGS);
    expect(stderr).toContain('it answered 403');
    expect(code).toBe(1);
    expect(await storage.list()).toEqual(before);
    expect(storage.countUploads()).toBe(0);
  });
});

test.each([
  // The database does not answer, and then the storage does not.
  ['a directory', () => `${directory}/`, 'pg_sleep(30) is null'],
  ['a bucket', () => `s3://${BUCKET}/stopped`, 'true'],
])('SIGTERM in the middle of an export to %s removes what was written', async (_, target, where) => {
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

// What is on the disk cannot be seen without a power cut: it is seen what is written through to it.
describe.runIf(process.platform === 'linux')('a power cut keeps what is published:', () => {
  test.each([
    ['a directory', (at: string) => deliverIntoDirectory(at, 'referrals/export=1'), 'referrals'],
    ['a file', (at: string) => deliverFile(join(at, 'x.csv')), '.'],
  ])('the name of %s is on the disk', async (_, deliver, where) => {
    const synced = await watchSyncs();
    await publish(await deliver(directory), 'x.csv');
    expect(synced.at(-1)).toBe(join(directory, where));
  });

  test('so are the names of all directories that were made for it, and of what is in them', async () => {
    const synced = await watchSyncs();
    await publish(deliverIntoDirectory(join(directory, 'new/exports'), 'referrals/export=1'), 'day=1/x.csv');
    const places = synced.map((path) => relative(directory, path).replace(/\.(export=1)\.\w+\.tmp/, 'DRAFT'));
    expect(new Set(places)).toEqual(
      new Set([
        '',
        'new',
        'new/exports',
        'new/exports/referrals',
        ...['', '/manifest.json', '/day=1', '/day=1/x.csv'].map(
          (path) => `new/exports/referrals/DRAFT${path}`,
        ),
      ]),
    );
  });
});

/** Returns the paths of all files and directories that are synced from now on. */
async function watchSyncs(): Promise<string[]> {
  const synced: string[] = [];
  const probe = await open(directory);
  const handles = Object.getPrototypeOf(probe);
  await probe.close();
  const { sync } = handles;
  handles.sync = async function (this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
  };
  onTestFinished(() => {
    handles.sync = sync;
  });
  return synced;
}

async function publish(delivery: Delivery, path: string): Promise<void> {
  const file = await delivery.openFile(path);
  await file.write(Buffer.from('x'));
  await file.close();
  await delivery.publish('{}');
}

// Node's own recursive mkdir never returns there.
test.runIf(process.platform === 'linux')('a directory that cannot be made ends the export', async () => {
  const { code, stderr } = await run('--format', 'csv', '-o', '/proc/none/');
  expect(stderr).toMatch(/^affiliate-mirror: cannot write \/proc\/none\/referrals\/.*ENOENT.*\n$/);
  expect(code).toBe(1);
});

test.runIf(process.platform !== 'win32')('a pipe or a device is not replaced by a file', async () => {
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
  writeFileSync(join(directory, 'taken'), '');
  const { code, stderr } = await run('--format', 'csv', '-o', join(directory, 'taken', 'x/'));
  expect(stderr).toContain('a part of its path is not a directory');
  expect(code).toBe(1);
});
