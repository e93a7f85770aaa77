import { appendFile, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { prepareLocks } from '../../src/embedded-postgres/home.ts';
import { tryLock } from '../../src/embedded-postgres/lock.ts';
import { EmbeddedPostgresFailed } from '../../src/errors.ts';
import { makeLogger } from '../../src/log.ts';
import { findProcesses } from '../support/embedded-directories.ts';
import { EMBEDDED_PROCESS, startEmbeddedUser } from '../support/embedded-user.ts';
import { useDataDir } from './use-data-dir.ts';

const log = makeLogger('warn');
const given = useDataDir();

async function expectFailure(directory: string, ...parts: string[]): Promise<void> {
  const error = await openEmbeddedPostgres({ log }, { dataDir: directory }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(EmbeddedPostgresFailed);
  const { message } = error as EmbeddedPostgresFailed;
  for (const part of parts) expect(message).toContain(part);
  expect(message).not.toMatch(/\n\s+at /);
  expect(await findProcesses(given.home)).toEqual([]);
}

it('names DATA_DIR where it cannot be made', async () => {
  const file = join(given.dataDir, 'a-file');
  await writeFile(file, '');
  await expectFailure(
    join(file, 'below'),
    `DATA_DIR ${file}/below could not be opened`,
    'ENOTDIR',
    'DATABASE_URL',
  );
});

// Node's own recursive mkdir never returns there.
it.runIf(process.platform === 'linux').each(['/proc/none', '/proc/none/below'])(
  'names %s, which no directory can be made at',
  async (directory) => {
    await expectFailure(directory, `DATA_DIR ${directory} could not be opened`, 'ENOENT', 'DATABASE_URL');
  },
);

it('makes every directory above DATA_DIR that is missing, also by two at once', async () => {
  const deep = join(given.dataDir, 'one', 'two', 'three');
  await Promise.all([prepareLocks(deep), prepareLocks(deep)]);
  expect((await stat(deep)).isDirectory()).toBe(true);
  // Wherever one overtakes the other.
  for (let round = 0; round < 50; round += 1) {
    const another = join(given.dataDir, `round-${round}`, 'one', 'two');
    await Promise.all(Array.from({ length: 8 }, () => prepareLocks(another)));
  }
});

it('names both versions where another one made the data', async () => {
  await given.makeCluster();
  await writeFile(join(given.home, 'data', 'PG_VERSION'), '15\n');
  await expectFailure(
    given.dataDir,
    given.home,
    'was made by Postgres 15',
    'affiliate-mirror brings Postgres 18',
  );
});

it('names the password file where it is gone', async () => {
  await given.makeCluster();
  await rm(join(given.home, 'password'));
  await expectFailure(given.dataDir, join(given.home, 'password'), 'no such file');
});

it('says so where the password is not the right one, and leaves no server behind', async () => {
  await given.makeCluster();
  await writeFile(join(given.home, 'password'), 'not the one\n');
  await expectFailure(given.dataDir, 'does not let us in', 'DATABASE_URL', 'password authentication failed');
});

it('shows the end of what Postgres said where it does not start', async () => {
  await given.makeCluster();
  await appendFile(join(given.home, 'data', 'postgresql.conf'), "shared_buffers = 'plenty'\n");
  await expectFailure(
    given.dataDir,
    'did not start',
    'DATABASE_URL',
    'invalid value for parameter "shared_buffers": "plenty"',
  );
});

it('shows what initdb said where it cannot write the data', async () => {
  const script = join(given.dataDir, 'with-little-room.sh');
  await writeFile(script, `ulimit -f 1000\nexec "${process.execPath}" "${EMBEDDED_PROCESS}" "$1"\n`);
  const start = startEmbeddedUser(given.dataDir, { node: '/bin/sh', script });
  await expect(start).rejects.toThrow(/could not make its data directory. It said:\n.*initdb/s);
  await given.makeCluster();
});

it('starts nothing where nothing can be written', async () => {
  await given.makeCluster();
  const script = join(given.dataDir, 'with-no-room.sh');
  await writeFile(script, `ulimit -f 0\nexec "${process.execPath}" "${EMBEDDED_PROCESS}" "$1"\n`);
  const start = startEmbeddedUser(given.dataDir, { node: '/bin/sh', script });
  await expect(start).rejects.toThrow(/could not be opened: disk I\/O error\. Fix that, set DATA_DIR/);
});

it('names the link where the place it leads to is gone', async () => {
  await symlink(join(given.dataDir, 'nowhere'), given.home);
  await expectFailure(given.dataDir, `no such file or directory, realpath '${given.home}'`);
});

it('fails alike where the data directory was emptied by hand', async () => {
  await given.makeCluster();
  await rm(join(given.home, 'data', 'global'), { recursive: true });
  await mkdir(join(given.home, 'data', 'global'));
  await expectFailure(given.dataDir, 'did not start', 'global/pg_control');
});

it('releases its locks after a failure', async () => {
  await given.makeCluster();
  await writeFile(join(given.home, 'data', 'PG_VERSION'), '15\n');
  await expectFailure(given.dataDir, '15');
  for (const name of ['postgres.lock', 'postgres.users.lock']) {
    const lock = tryLock(join(given.dataDir, name), 'exclusive');
    expect(lock).not.toBeNull();
    lock?.release();
  }
});
