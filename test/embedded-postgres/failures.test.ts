import { appendFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { tryLock } from '../../src/embedded-postgres/lock.ts';
import { EmbeddedPostgresFailed } from '../../src/errors.ts';
import { makeLogger } from '../../src/log.ts';
import { findProcesses, makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { EMBEDDED_PROCESS, killEmbeddedUsers, startEmbeddedUser } from '../support/embedded-user.ts';
import { copyCluster } from '../support/prepared-cluster.ts';

const log = makeLogger('warn');
let dataDir: string;
let home: string;

beforeEach(async () => {
  dataDir = await makeDataDir();
  home = join(dataDir, 'postgres');
});

afterEach(async () => {
  await killEmbeddedUsers();
  await removeDataDir(dataDir);
});

const makeCluster = () => copyCluster(inject('preparedCluster'), dataDir);

async function expectFailure(directory: string, ...parts: string[]): Promise<void> {
  const error = await openEmbeddedPostgres({ log }, { dataDir: directory }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(EmbeddedPostgresFailed);
  const { message } = error as EmbeddedPostgresFailed;
  for (const part of parts) expect(message).toContain(part);
  expect(message).not.toMatch(/\n\s+at /);
  expect(await findProcesses(home)).toEqual([]);
}

it('names DATA_DIR where it cannot be made', async () => {
  const file = join(dataDir, 'a-file');
  await writeFile(file, '');
  await expectFailure(
    join(file, 'below'),
    `DATA_DIR ${file}/below cannot be written to`,
    'ENOTDIR',
    'DATABASE_URL',
  );
});

it('names both versions where another one made the data', async () => {
  await makeCluster();
  await writeFile(join(home, 'data', 'PG_VERSION'), '15\n');
  await expectFailure(dataDir, home, 'was made by Postgres 15', 'affiliate-mirror brings Postgres 18');
});

it('names the password file where it is gone', async () => {
  await makeCluster();
  await rm(join(home, 'password'));
  await expectFailure(dataDir, join(home, 'password'), 'cannot be read', `remove ${home}`);
});

it('says so where the password is not the right one, and leaves no server behind', async () => {
  await makeCluster();
  await writeFile(join(home, 'password'), 'not the one\n');
  await expectFailure(dataDir, 'does not let us in', 'DATABASE_URL', 'password authentication failed');
});

it('shows the end of what Postgres said where it does not start', async () => {
  await makeCluster();
  await appendFile(join(home, 'data', 'postgresql.conf'), "shared_buffers = 'plenty'\n");
  await expectFailure(
    dataDir,
    'did not start',
    'DATABASE_URL',
    'invalid value for parameter "shared_buffers": "plenty"',
  );
});

it('shows what initdb said where it cannot write the data', async () => {
  const script = join(dataDir, 'with-little-room.sh');
  await writeFile(script, `ulimit -f 1000\nexec "${process.execPath}" "${EMBEDDED_PROCESS}" "$1"\n`);
  const start = startEmbeddedUser(dataDir, { node: '/bin/sh', script });
  await expect(start).rejects.toThrow(/could not make its data directory. It said:\n.*initdb/s);
  await makeCluster();
});

it('starts nothing where the disk is full', async () => {
  await makeCluster();
  await symlink('/dev/full', join(home, 'port.new'));
  await expectFailure(dataDir, 'ENOSPC');
});

it('names the link where the place it leads to is gone', async () => {
  await symlink(join(dataDir, 'nowhere'), home);
  await expectFailure(dataDir, `${home} links to a directory that is gone`, 'remove the link');
});

it('fails alike where the data directory was emptied by hand', async () => {
  await makeCluster();
  await rm(join(home, 'data', 'global'), { recursive: true });
  await mkdir(join(home, 'data', 'global'));
  await expectFailure(dataDir, 'did not start', 'global/pg_control');
});

it('releases its locks after a failure', async () => {
  await makeCluster();
  await writeFile(join(home, 'data', 'PG_VERSION'), '15\n');
  await expectFailure(dataDir, '15');
  for (const name of ['postgres.lock', 'postgres.users.lock']) {
    const lock = tryLock(join(dataDir, name), 'exclusive');
    expect(lock).not.toBeNull();
    lock?.release();
  }
});
