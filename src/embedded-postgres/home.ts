// Where the embedded Postgres keeps its files, whom they belong to, and its password.

import { access, chmod, constants, lstat, mkdir, readFile, realpath, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeError } from '../describe-error.ts';
import { EmbeddedPostgresFailed } from '../errors.ts';
import type { Logger } from '../log.ts';
import { makeDirectory } from '../make-directory.ts';
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

const OWN_DATABASE = 'or set DATABASE_URL to a Postgres of your own';

/**
 * Returns the paths of the two lock files, in a data directory that exists and can be written to.
 *
 * Throws: EmbeddedPostgresFailed where it cannot, or where the lock file belongs to another user.
 */
export async function prepareLocks(dataDir: string): Promise<{ startLock: string; usersLock: string }> {
  const directory = resolve(dataDir);
  try {
    await makeDirectory(directory, 0o755);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new EmbeddedPostgresFailed(
      `DATA_DIR ${directory} cannot be written to (${describeError(error)}). ` +
        `Make it writable, set DATA_DIR to a directory that is, ${OWN_DATABASE}.`,
      { cause: error },
    );
  }
  const startLock = join(directory, 'postgres.lock');
  await refuseForeign(startLock);
  return { startLock, usersLock: join(directory, 'postgres.users.lock') };
}

/**
 * Returns the home, made where it is missing. Root's server runs as another user: where that user cannot
 * enter DATA_DIR (a checkout under /root, say), the home is under /var/lib and DATA_DIR/postgres links to it.
 *
 * Throws: EmbeddedPostgresFailed where it belongs to somebody else or cannot be reached.
 */
export async function prepareHome(deps: { log: Logger }, dataDir: string): Promise<Home> {
  const entry = join(resolve(dataDir), 'postgres');
  if ((await lstat(entry).catch(() => null)) === null) await makeHome(deps, resolve(dataDir), entry);
  let directory: string;
  try {
    directory = await realpath(entry);
  } catch (error) {
    const fix = 'Bring it back, or remove the link to start with an empty database.';
    throw new EmbeddedPostgresFailed(`${entry} links to a directory that is gone. ${fix}`, { cause: error });
  }
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
    // Explicitly, since the umask may have closed it; secret files inside have their own permissions.
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
  // Root serves a cluster that an ordinary user made as that user, so that both can go on using it.
  const { uid: ownerUid, gid } = await stat(join(directory, 'data')).catch(() => stat(directory));
  const account = ownerUid === 0 ? await findServerAccount() : { uid: ownerUid, gid };
  if (await canEnter(account, directory)) return account;
  throw new EmbeddedPostgresFailed(
    `user ${account?.uid}, whom the embedded Postgres runs as, cannot enter ${directory}. ` +
      `Open the directories above it ("chmod o+x"), move DATA_DIR, ${OWN_DATABASE}.`,
  );
}

async function refuseForeign(path: string): Promise<void> {
  const uid = process.getuid?.();
  const owner = (await stat(path).catch(() => null))?.uid;
  if (uid === undefined || uid === 0 || owner === undefined || owner === uid) return;
  throw new EmbeddedPostgresFailed(
    `the embedded Postgres (${path}) belongs to user ${owner}, and this process runs as user ${uid}. ` +
      `Run it as that user, set DATA_DIR to a directory of your own, ${OWN_DATABASE}.`,
  );
}

/**
 * Returns the password of an existing cluster.
 *
 * Throws: EmbeddedPostgresFailed where it cannot be read.
 */
export async function readPassword(home: Home): Promise<string> {
  try {
    return (await readFile(home.passwordFile, 'utf8')).trim();
  } catch (error) {
    throw new EmbeddedPostgresFailed(
      `the password of the embedded Postgres cannot be read (${describeError(error)}). Bring the file back, ` +
        `or remove ${home.directory} to start with an empty database.`,
      { cause: error },
    );
  }
}
