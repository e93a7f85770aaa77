import { appendFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EmbeddedPostgresFailed } from '../../src/base/errors.ts';
import { makeLogger } from '../../src/base/log.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { prepareLocks } from '../../src/embedded-postgres/home.ts';
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
