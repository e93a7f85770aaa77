// Makes, starts, finds and stops one Postgres cluster in its directory. Its callers hold the start lock.

import { chown, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { describeError, errorCode } from '../describe-error.ts';
import { EmbeddedPostgresFailed } from '../errors.ts';
import { type Executables, run } from './executables.ts';
import { type Home, makePassword } from './home.ts';
import { notePlace } from './place.ts';
import { replaceFile } from './replace-file.ts';

/** The cluster's only role, its superuser. */
export const ROLE = 'affiliate_mirror';

const LOOPBACK = '127.0.0.1';
/** Marks a data directory that initdb has not finished. */
const DRAFT = '.new-';
const LOG_TAIL_LINES = 12;
/** Long enough to replay a full WAL (1 GB at most) after a crash on a slow disk. */
const START_TIMEOUT_S = 120;
const STOP_TIMEOUT_S = 60;
/** Someone else can take a port between our check and Postgres' start; five times in a row is not chance. */
const START_ATTEMPTS = 5;

/** A worker, its queues and an analyst's tools hold many connections; Postgres' own default is 100. */
const SETTINGS = [
  `listen_addresses=${LOOPBACK}`,
  'unix_socket_directories=',
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
];

/**
 * Makes the cluster where it does not exist, and checks that the executables can serve its version. Returns whether it
 * made it.
 *
 * Throws: EmbeddedPostgresFailed. Idempotent: yes; an interrupted first start leaves only a draft, and starts again.
 */
export async function ensureCluster(home: Home, executables: Executables): Promise<boolean> {
  const version = await readFile(join(home.clusterDir, 'PG_VERSION'), 'utf8').catch(whereMissing(null));
  if (version === null) {
    await makeCluster(home, executables);
    return true;
  }
  if (Number(version) === executables.majorVersion) return false;
  throw new EmbeddedPostgresFailed(
    `the data in ${home.directory} was made by Postgres ${version.trim()}, and affiliate-mirror brings ` +
      `Postgres ${executables.majorVersion}. Remove the directory and sync again, or dump it with Postgres ` +
      `${version.trim()} and set DATABASE_URL to where you restore it.`,
  );
}

async function makeCluster(home: Home, executables: Executables): Promise<void> {
  await removeDrafts(home);
  const draft = await mkdtemp(`${home.clusterDir}${DRAFT}`);
  if (home.account !== null) await chown(draft, home.account.uid, home.account.gid);
  await makePassword(home);
  refuseNameless(home);
  const { code, output } = await run(
    executables.initdb,
    [
      `--pgdata=${draft}`,
      `--username=${ROLE}`,
      `--pwfile=${home.passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Postgres' own locale: the system's may be missing, here or on another machine that the directory moves to.
      '--no-locale',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...SETTINGS.map((setting) => `--set=${setting}`),
    ],
    { account: home.account, cwd: home.directory },
  );
  if (code !== 0) throw failure(home, 'could not make its data directory', output);
  await rename(draft, home.clusterDir);
}

// A container may run as a user that its /etc/passwd does not know.
function refuseNameless({ account }: Home): void {
  if (account !== null) return;
  try {
    userInfo();
  } catch (error) {
    throw new EmbeddedPostgresFailed(
      `the user ${process.geteuid?.()} has no entry in /etc/passwd, and for such a user Postgres makes no data ` +
        'directory. Add one, run as another user, or set DATABASE_URL to a Postgres of your own.',
      { cause: error },
    );
  }
}

// Each draft has a name of its own: the initdb of a killed first start may still be writing to the last one.
async function removeDrafts(home: Home): Promise<void> {
  const prefix = basename(home.clusterDir) + DRAFT;
  const drafts = (await readdir(home.directory)).filter((name) => name.startsWith(prefix));
  await Promise.all(drafts.map((name) => rm(join(home.directory, name), { recursive: true, force: true })));
}

/** Returns the port of the cluster's running server; null where none runs. */
export async function findServer(home: Home): Promise<number | null> {
  const pidFile = join(home.clusterDir, 'postmaster.pid');
  const [pid, , , port] = (await readFile(pidFile, 'utf8').catch(whereMissing(''))).split('\n');
  if (pid === undefined || port === undefined || port === '') return null;
  if (!isAlive(Number(pid))) return null;
  if (await isServerOf(home, Number(pid))) return Number(port);
  // Another process has the pid now (usual after a container restarts), and Postgres would refuse to start.
  await rm(pidFile, { force: true });
  return null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

// By its command line: the other traces in /proc are closed to root in a container.
async function isServerOf(home: Home, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return commandLine.split('\0').includes(home.clusterDir);
}

/**
 * Starts a server and returns its port: the last one again where it is free, else any free one.
 * The server belongs to neither our terminal nor our process group: Ctrl-C reaches us, never the server.
 *
 * Throws: EmbeddedPostgresFailed with the end of Postgres' own log.
 */
export async function startServer(home: Home, executables: Executables): Promise<number> {
  const lastPort = Number(await readFile(home.portFile, 'utf8').catch(whereMissing('0')));
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort(attempt === 1 ? lastPort : 0);
    // Before the start: a server whose port could not be stored would run on with nobody using it.
    await replaceFile(home.portFile, `${port}\n`, { mode: 0o644, account: null });
    await notePlace(home);
    if (await launch(home, executables, port)) return port;
    // A start that a killed process began goes on, and may have been faster than ours.
    const running = await findServer(home);
    if (running !== null) return running;
    const wasTaken = (await findFreePort(port)) !== port;
    if (!wasTaken || attempt === START_ATTEMPTS) {
      throw failure(home, 'did not start', await readLogTail(home));
    }
  }
}

async function launch(home: Home, executables: Executables, port: number): Promise<boolean> {
  await rename(home.logFile, `${home.logFile}.previous`).catch(whereMissing(undefined));
  const log = await open(home.logFile, 'wx', 0o600);
  try {
    const { code } = await run(
      executables.pgCtl,
      ['start', '-D', home.clusterDir, '-w', '-t', String(START_TIMEOUT_S), '-o', `-p ${port}`],
      { account: home.account, cwd: home.directory, outputFd: log.fd },
    );
    return code === 0;
  } finally {
    await log.close();
  }
}

/** Returns the wanted port where it is free on the loopback address, else another free one. */
async function findFreePort(wanted: number): Promise<number> {
  const server = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, LOOPBACK, () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : wanted);
      });
    });
  } catch (error) {
    if (wanted === 0) throw error;
    return await findFreePort(0);
  } finally {
    server.close();
  }
}

/**
 * Stops the server, with everything written to disk.
 *
 * Throws: EmbeddedPostgresFailed where it does not stop. Idempotent: yes.
 */
export async function stopServer(home: Home, executables: Executables): Promise<void> {
  if ((await findServer(home)) === null) return;
  const { code, output } = await run(
    executables.pgCtl,
    ['stop', '-D', home.clusterDir, '-m', 'fast', '-w', '-t', String(STOP_TIMEOUT_S)],
    { account: home.account, cwd: home.directory },
  );
  if (code !== 0 && (await findServer(home)) !== null) throw failure(home, 'did not stop', output);
}

/** Returns the error that says what happened, with the end of Postgres' output about it. */
export function failure(home: Home, what: string, said: string, cause?: unknown): EmbeddedPostgresFailed {
  const tail = said.trim().split('\n').slice(-LOG_TAIL_LINES).join('\n  ');
  return new EmbeddedPostgresFailed(
    `the embedded Postgres in ${home.directory} ${what}. It said:\n  ${tail}\n` +
      'Fix what it names and start again, or set DATABASE_URL to a Postgres of your own.',
    cause === undefined ? {} : { cause },
  );
}

/** Returns the log of the server's current or last run. */
export async function readLogTail(home: Home): Promise<string> {
  return await readFile(home.logFile, 'utf8').catch((error: unknown) => `(no log: ${describeError(error)})`);
}

/** Returns a handler that turns a missing file into the value, and rethrows every other error. */
function whereMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };
}
