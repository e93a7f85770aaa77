// The files of the embedded Postgres, their owner, and its password.

import { existsSync } from 'node:fs';
import { access, chmod, constants, lstat, mkdir, readFile, realpath, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EmbeddedPostgresFailed } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { makeDirectory } from '../base/make-directory.ts';
import { type Account, canEnter, findServerAccount, makeSystemDirectory } from './executables.ts';

export interface Home {
  /** The real path of DATA_DIR/postgres. */
  readonly directory: string;
  /** Postgres' own data directory; missing before the first start. */
  readonly clusterDir: string;
  readonly passwordFile: string;
  readonly logFile: string;
  readonly account: Account;
}

/** Returns the paths of the two lock files, in a data directory that it makes if there is none. */
export async function prepareLocks(dataDir: string): Promise<{ startLock: string; usersLock: string }> {
  const directory = resolve(dataDir);
  const startLock = join(directory, 'postgres.lock');
  await makeDirectory(directory, 0o755);
  // The error of SQLite, which locks the file, would not name the path.
  await access(directory, constants.W_OK | constants.X_OK);
  if (existsSync(startLock)) await access(startLock, constants.W_OK);
  return { startLock, usersLock: join(directory, 'postgres.users.lock') };
}

/**
 * Returns the home, made if it is missing. Root's server runs as another user: if that user cannot enter DATA_DIR (such
 * as a checkout under /root), the home is under /var/lib, and DATA_DIR/postgres links to it.
 *
 * Throws: EmbeddedPostgresFailed if the server's user cannot enter it.
 */
export async function prepareHome(deps: { log: Logger }, dataDir: string): Promise<Home> {
  const entry = join(resolve(dataDir), 'postgres');
  if ((await lstat(entry).catch(() => null)) === null) await makeHome(deps, resolve(dataDir), entry);
  const directory = await realpath(entry);
  return {
    directory,
    clusterDir: join(directory, 'data'),
    passwordFile: join(directory, 'password'),
    logFile: join(directory, 'log'),
    account: await findOwner(directory),
  };
}

async function makeHome({ log }: { log: Logger }, dataDir: string, entry: string): Promise<void> {
  const account = await findServerAccount();
  if (account === null) {
    await mkdir(entry, { mode: 0o700 });
    return;
  }
  if (await canEnter(account, dataDir)) {
    await mkdir(entry);
    // The umask may have closed it; secret files inside have their own permissions.
    await chmod(entry, 0o755);
    return;
  }
  const elsewhere = await makeSystemDirectory('postgres');
  await symlink(elsewhere, entry);
  log.info(
    {
      data_dir: dataDir,
      directory: elsewhere,
      reason: 'root only may enter DATA_DIR, and Postgres does not run as root: DATA_DIR has a link to it',
    },
    'postgres.kept_elsewhere',
  );
}

async function findOwner(directory: string): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  // Root serves an ordinary user's cluster as that user, so that both can use it.
  const { uid: ownerUid, gid } = await stat(join(directory, 'data')).catch(() => stat(directory));
  const account = ownerUid === 0 ? await findServerAccount() : { uid: ownerUid, gid };
  if (await canEnter(account, directory)) return account;
  throw new EmbeddedPostgresFailed(
    `user ${account?.uid}, whom the embedded Postgres runs as, cannot enter ${directory}. ` +
      'Open the directories above it ("chmod o+x"), move DATA_DIR, or set DATABASE_URL to a Postgres of your own.',
  );
}

export async function readPassword(home: Home): Promise<string> {
  return (await readFile(home.passwordFile, 'utf8')).trim();
}
