// Makes, starts, finds and stops one Postgres cluster in its directory. Its callers hold the start lock.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chown,
  lchown,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describeError, errorCode } from '../base/describe-error.ts';
import { EmbeddedPostgresFailed } from '../base/errors.ts';
import { type Executables, run } from './executables.ts';
import type { Home } from './home.ts';

/** The cluster's only role, a superuser. */
export const ROLE = 'affiliate_mirror';

const LOOPBACK = '127.0.0.1';
/** The name of a data directory that initdb has not finished. */
const DRAFT = 'data.new-';
const LOG_TAIL_LINES = 12;
/** Long enough to replay a full WAL (1 GB at most) after a crash on a slow disk. */
const START_TIMEOUT_S = 120;
const STOP_TIMEOUT_S = 60;

/** A setting of the server with the container of its start, which Postgres stores with its data. */
const PLACE_SETTING = 'affiliate_mirror.place';

/** A worker, its queues and an analyst's tools hold many connections; Postgres' default is 100. */
const SETTINGS = [
  `listen_addresses=${LOOPBACK}`,
  'unix_socket_directories=',
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
];

/**
 * Makes the cluster if it does not exist, else checks that the executables fit its version. Returns whether it made it.
 *
 * Throws: EmbeddedPostgresFailed. Idempotent: yes; an interrupted first start leaves only a draft.
 */
export async function ensureCluster(home: Home, executables: Executables): Promise<boolean> {
  const file = await readFile(join(home.clusterDir, 'PG_VERSION'), 'utf8').catch(ifMissing(null));
  if (file === null) {
    await makeCluster(home, executables);
    return true;
  }
  const version = Number(file);
  if (version === executables.majorVersion) return false;
  throw new EmbeddedPostgresFailed(
    `the data in ${home.directory} was made by Postgres ${version}, and affiliate-mirror brings Postgres ` +
      `${executables.majorVersion}. Remove the directory and sync again, or dump it with Postgres ${version} and ` +
      'set DATABASE_URL to where you restore it.',
  );
}

async function makeCluster(home: Home, executables: Executables): Promise<void> {
  await removeDrafts(home);
  const draft = await mkdtemp(join(home.directory, DRAFT));
  if (home.account !== null) await chown(draft, home.account.uid, home.account.gid);
  await makePassword(home);
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

/** Only the server's account and root can read it. `wx` follows no link of that account. */
async function makePassword({ passwordFile, account }: Home): Promise<void> {
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, `${randomBytes(24).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
  if (account !== null) await lchown(passwordFile, account.uid, account.gid);
}

// Each draft has its own name, because the initdb of a killed first start may still be writing.
async function removeDrafts(home: Home): Promise<void> {
  for (const name of await readdir(home.directory)) {
    if (name.startsWith(DRAFT)) await rm(join(home.directory, name), { recursive: true, force: true });
  }
}

/** Returns the port of the cluster's running server; null if none runs. */
export async function findServer(home: Home): Promise<number | null> {
  const pidFile = join(home.clusterDir, 'postmaster.pid');
  const [pid, , , port] = (await readFile(pidFile, 'utf8').catch(ifMissing(''))).split('\n');
  if (pid === undefined || port === undefined || port === '') return null;
  const isOurs = await isServerOf(home, Number(pid));
  if (isOurs === true) return Number(port);
  // Another process has the pid now (usual after a container restarts), and Postgres would refuse to start.
  if (isOurs === false) await rm(pidFile, { force: true });
  return null;
}

/** By the command line, because root in a container may not read more of /proc. Null if there is no such process. */
async function isServerOf(home: Home, pid: number): Promise<boolean | null> {
  if (process.platform === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
    return commandLine === null ? null : commandLine.split('\0').includes(home.clusterDir);
  }
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM' ? true : null;
  }
}

/**
 * Starts a server and returns its port: the last one if it is free, else any free one. The server belongs to neither
 * our terminal nor our process group, so that Ctrl-C does not reach it.
 *
 * Throws: EmbeddedPostgresFailed with the end of Postgres' log.
 */
export async function startServer(home: Home, executables: Executables, tries = 3): Promise<number> {
  const port = await findFreePort(Number((await readLastStart(home)).port ?? 0));
  await rename(home.logFile, `${home.logFile}.previous`).catch(ifMissing(undefined));
  const log = await open(home.logFile, 'wx', 0o600);
  try {
    const options = `-p ${port} -c ${PLACE_SETTING}=${await findPlace()}`;
    const { code } = await run(
      executables.pgCtl,
      ['start', '-D', home.clusterDir, '-w', '-t', String(START_TIMEOUT_S), '-o', options],
      { account: home.account, cwd: home.directory, outputFd: log.fd },
    );
    if (code === 0) return port;
  } finally {
    await log.close();
  }
  // The start of a killed process goes on, and may have been faster.
  const running = await findServer(home);
  if (running !== null) return running;
  const said = await readLogTail(home);
  // Another process took the port since it was found to be free.
  if (tries > 1 && said.includes('Address already in use')) return startServer(home, executables, tries - 1);
  throw failure(home, 'did not start', said);
}

/** Returns the port and the place (findPlace) of the server's last start, from Postgres' own file. */
export async function readLastStart({ clusterDir }: Home): Promise<{ port?: string; place?: string }> {
  const options = await readFile(join(clusterDir, 'postmaster.opts'), 'utf8').catch(() => '');
  return (
    new RegExp(`"-p" "(?<port>\\d+)" "-c" "${PLACE_SETTING}=(?<place>\\w+)"`).exec(options)?.groups ?? {}
  );
}

/**
 * Returns the same text for all processes that see each other: the container's, or 'machine'. Containers that share
 * DATA_DIR see each other's locks, but not each other's processes: a running server of the other looks crashed, also to
 * Postgres' own check. A second server on the same data would destroy them.
 */
export async function findPlace(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return /\d+/.exec(namespace)?.[0] ?? 'machine';
}

/** Returns the wanted port if it is free on the loopback address, else another free one. */
async function findFreePort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, LOOPBACK);
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if (wanted === 0) throw error;
    return await findFreePort(0);
  } finally {
    server.close();
  }
}

/** Stops the server in order. Throws: EmbeddedPostgresFailed if it does not stop. Idempotent: yes. */
export async function stopServer(home: Home, executables: Executables): Promise<void> {
  if ((await findServer(home)) === null) return;
  const { code, output } = await run(
    executables.pgCtl,
    ['stop', '-D', home.clusterDir, '-m', 'fast', '-w', '-t', String(STOP_TIMEOUT_S)],
    { account: home.account, cwd: home.directory },
  );
  if (code !== 0 && (await findServer(home)) !== null) throw failure(home, 'did not stop', output);
}

/** Returns the error, with the end of Postgres' output. */
export function failure(home: Home, what: string, said: string): EmbeddedPostgresFailed {
  const tail = said.trim().split('\n').slice(-LOG_TAIL_LINES).join('\n  ');
  return new EmbeddedPostgresFailed(
    `the embedded Postgres in ${home.directory} ${what}. It said:\n  ${tail}\n` +
      'Fix what it names and start again, or set DATABASE_URL to a Postgres of your own.',
  );
}

export async function readLogTail(home: Home): Promise<string> {
  return await readFile(home.logFile, 'utf8').catch((error: unknown) => `(no log: ${describeError(error)})`);
}

/** Returns a handler that turns a missing file into the value, and rethrows every other error. */
function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };
}
