// A Postgres of Debian's package: older than the embedded one, and with the programs that make and restore backups. It
// ends with the test file.

import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterFile } from './after-file.ts';
import { findFreePort } from './redis.ts';
import { findServerAccount } from './server-account.ts';
import { makeServerDirectory } from './server-directory.ts';

const VERSIONS = '/usr/lib/postgresql';

export interface DebianPostgres {
  /** Returns the address of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Returns what one of its programs printed, such as `pg_dump`. Throws: Error with what it said where it failed. */
  run(program: string, args: readonly string[]): Promise<string>;
}

/** Returns the running server of the newest version that is installed; its superuser is `postgres`. */
export async function startDebianPostgres(): Promise<DebianPostgres> {
  const version = await findVersion();
  const directory = await makeServerDirectory('affiliate-mirror-debian-');
  afterFile(() => rm(directory, { recursive: true, force: true }));
  const account = await findServerAccount();
  const data = join(directory, 'data');
  const run = async (program: string, args: readonly string[], options = {}) => {
    const path = join(VERSIONS, String(version), 'bin', program);
    const { stdout } = await promisify(execFile)(path, args, { maxBuffer: 1e9, ...options });
    return stdout;
  };
  if (account !== null) await promisify(execFile)('chown', [`${account.uid}:${account.gid}`, directory]);
  // Where it starts must be a directory that its account may enter.
  const asServer = { ...account, cwd: directory };
  await run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], asServer);
  const port = await findFreePort();
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
  const control = ['-D', data, '-l', join(directory, 'log'), '-w'];
  await run('pg_ctl', [...control, '-o', settings, 'start'], asServer);
  afterFile(() => run('pg_ctl', [...control, '-m', 'immediate', 'stop'], asServer));
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  let made = 0;
  return {
    async createDatabase() {
      made += 1;
      await run('createdb', ['--maintenance-db', url('postgres'), `test_${made}`]);
      return url(`test_${made}`);
    },
    run,
  };
}

async function findVersion(): Promise<number> {
  const names = await readdir(VERSIONS).catch(() => []);
  if (names.length === 0) {
    throw new Error(
      `no Postgres in ${VERSIONS}: "node test/provision.ts --long" installs it, or says how to`,
    );
  }
  return Math.max(...names.map(Number));
}
