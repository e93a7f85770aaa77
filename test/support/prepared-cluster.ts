// One embedded Postgres cluster per test run, made and stopped, for tests to copy: a fifth of what initdb takes.

import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { makeLogger } from '../../src/base/log.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { makeDataDir } from './embedded-directories.ts';

/** No test needs its data to outlive a crash of the machine. */
const CARELESS = ['fsync', 'full_page_writes'];

/** Returns the data directory of such a cluster; to be removed by the caller. */
export async function prepareCluster(): Promise<string> {
  const dataDir = await makeDataDir();
  const server = await openEmbeddedPostgres({ log: makeLogger('warn') }, { dataDir });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  for (const setting of CARELESS) await client.query(`alter system set ${setting} = off`);
  await client.end();
  await server.stop();
  const home = join(dataDir, 'postgres');
  // A server takes the port of its last run again, and the copies run side by side.
  for (const name of ['data/postmaster.opts', 'log']) await rm(join(home, name));
  return dataDir;
}

/** Has the data directory, which has none yet, hold a copy of the cluster. */
export async function copyCluster(prepared: string, dataDir: string): Promise<void> {
  // Keeps its owner, as Node's own copying does not.
  await promisify(execFile)('cp', ['-a', join(prepared, 'postgres'), join(dataDir, 'postgres')]);
}
