// The Postgres that needs no setup: under DATA_DIR, shared by every process with the same directory. This file decides
// when it starts and stops; the cluster is in cluster.ts.
//
// Decision: the server is no process's child. The first user starts it. Each user holds a shared lock on one file, and
// the last user to leave stops the server. Users come and leave one at a time, under a second lock. The kernel drops
// the locks of a killed process, so no lock is ever stale; a server whose users were all killed runs on until the next
// user has left. Rejected: a child of the process that started it (the others lose their database when that one ends,
// and Ctrl-C reaches it first); a count in a file or a table (wrong after a SIGKILL); the number of sessions in
// Postgres (each user must hold one, and refusing another container needs a lock on a file as well).
//
// Decision: only the package's executables are used, not its class. Its import installs handlers for SIGINT, SIGTERM,
// SIGHUP, exit and beforeExit (async-exit-hook) that end the process during a graceful stop, and turn
// `process.exitCode = 3` into 0 (seen with 18.4.0-beta.17). Its start() rejects with undefined for every failure. No
// code here listens to signals: the caller must call stop().

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describeError, errorCode } from '../base/describe-error.ts';
import { EmbeddedPostgresFailed } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import {
  ensureCluster,
  failure,
  findPlace,
  findServer,
  ROLE,
  readLastStart,
  readLogTail,
  startServer,
  stopServer,
} from './cluster.ts';
import { type Executables, findExecutables } from './executables.ts';
import { type Home, prepareHome, prepareLocks, readPassword } from './home.ts';
import { tryLock, waitForLock } from './lock.ts';

export interface EmbeddedPostgres {
  /** Holds the password: never log it. */
  readonly url: string;
  /** Whether this call started the server; any user may stop it. */
  readonly isOwner: boolean;
  /** The directory in which this call made an empty database; null if there was one. */
  readonly madeIn: string | null;
  readonly port: number;
  /**
   * Leaves the server, and stops it if no other process uses it. Close every connection first.
   *
   * Throws: EmbeddedPostgresFailed if the server does not stop. Idempotent: yes.
   */
  stop(): Promise<void>;
}

const DATABASE = 'affiliate_mirror';
/** Longer than a start and a stop together (see cluster.ts). */
const LOCK_TIMEOUT_MS = 200_000;
/** For a server that is still starting, recovering or stopping, or that a busy machine keeps from answering. */
const ANSWER_TIMEOUT_MS = 30_000;
const RETRY_MS = 100;

/**
 * Returns the running Postgres with its data under `dataDir`/postgres, started if necessary.
 *
 * Throws: EmbeddedPostgresFailed with the failure, the end of Postgres' log, and the remedy.
 */
export async function openEmbeddedPostgres(
  deps: { log: Logger },
  options: { dataDir: string },
): Promise<EmbeddedPostgres> {
  try {
    return await open(deps, options.dataDir);
  } catch (error) {
    if (error instanceof EmbeddedPostgresFailed) throw error;
    throw new EmbeddedPostgresFailed(
      `the embedded Postgres under DATA_DIR ${options.dataDir} could not be opened: ${describeError(error)}. ` +
        'Fix that, set DATA_DIR to another directory, or set DATABASE_URL to a Postgres of your own.',
      { cause: error },
    );
  }
}

async function open({ log }: { log: Logger }, dataDir: string): Promise<EmbeddedPostgres> {
  const { startLock, usersLock } = await prepareLocks(dataDir);
  return await withStartLock(startLock, async () => {
    const isShared = !isFree(usersLock);
    const usage = tryLock(usersLock, 'shared');
    try {
      const home = await prepareHome({ log }, dataDir);
      if (isShared) await refuseElsewhere(home);
      const executables = await findExecutables(home.account);
      const isMade = await ensureCluster(home, executables);
      const password = await readPassword(home);
      const { port, isOwner } = await findOrStart(home, executables, password);
      log.debug({ port, is_owner: isOwner, directory: home.directory }, 'postgres.opened');
      const leave = async () => {
        usage?.release();
        const isLast = isFree(usersLock);
        if (isLast) await stopServer(home, executables);
        log.debug(isLast ? 'postgres.stopped' : 'postgres.left_running');
      };
      let stopping: Promise<void> | undefined;
      return {
        url: urlOf(port, password, DATABASE),
        isOwner,
        madeIn: isMade ? home.directory : null,
        port,
        stop() {
          stopping ??= withStartLock(startLock, leave);
          return stopping;
        },
      };
    } catch (error) {
      usage?.release();
      throw error;
    }
  });
}

function isFree(usersLock: string): boolean {
  const lock = tryLock(usersLock, 'exclusive');
  lock?.release();
  return lock !== null;
}

/** Before findServer, which would take the server's process number for that of another process here. */
async function refuseElsewhere(home: Home): Promise<void> {
  const { place } = await readLastStart(home);
  if (place === undefined || place === (await findPlace())) return;
  throw new EmbeddedPostgresFailed(
    `the embedded Postgres in ${home.directory} is used by a process in another container, whose server cannot be ` +
      'reached from here. Run this command in that container (docker exec), end the other one first, or set ' +
      'DATABASE_URL to a Postgres that both can reach.',
  );
}

async function withStartLock<T>(startLock: string, work: () => Promise<T>): Promise<T> {
  const lock = await waitForLock(startLock, LOCK_TIMEOUT_MS);
  if (lock === null) {
    throw new EmbeddedPostgresFailed(
      `another process has been starting or stopping the embedded Postgres for ${LOCK_TIMEOUT_MS / 1000} s ` +
        `(it holds ${startLock}). End that process, or set DATABASE_URL to a Postgres of your own.`,
    );
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function findOrStart(
  home: Home,
  executables: Executables,
  password: string,
): Promise<{ port: number; isOwner: boolean }> {
  const deadline = performance.now() + ANSWER_TIMEOUT_MS;
  let isOwner = false;
  for (;;) {
    const running = await findServer(home);
    isOwner ||= running === null;
    const port = running ?? (await startServer(home, executables));
    try {
      await ensureDatabase(home, port, password);
      return { port, isOwner };
    } catch (error) {
      if (performance.now() < deadline && isPassing(error)) {
        await delay(RETRY_MS);
        continue;
      }
      if (isOwner) await stopServer(home, executables);
      const what = `runs on port ${port}, but does not let us in (${describeError(error)})`;
      throw failure(home, what, await readLogTail(home));
    }
  }
}

// Starting, stopping or recovering (57P03, 57P01), or not listening yet.
function isPassing(error: unknown): boolean {
  return ['57P03', '57P01', 'ECONNREFUSED', 'ECONNRESET'].includes(errorCode(error));
}

async function ensureDatabase(home: Home, port: number, password: string): Promise<void> {
  const client = new pg.Client({
    connectionString: urlOf(port, password, 'postgres'),
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
  });
  // Without a listener, a lost connection would end the process; the running query reports it.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string; exists: boolean }>(
      `select current_setting('data_directory') as data_directory,
              exists (select from pg_database where datname = $1) as exists`,
      [DATABASE],
    );
    if (rows[0]?.data_directory !== home.clusterDir) {
      throw new EmbeddedPostgresFailed(`it serves ${rows[0]?.data_directory}, not ${home.clusterDir}`);
    }
    if (!rows[0].exists) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

// Without sslmode, a PGSSLMODE=require in the environment would ask the server for TLS, which it does not have.
function urlOf(port: number, password: string, database: string): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}
