// A Postgres server of a test's own, which it may stop, configure and start again. It ends with the test file.

import { chown, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/embedded-postgres/embedded-postgres.ts';
import { afterFile } from './after-file.ts';
import { findProcesses, makeDataDir, query, removeDataDir } from './embedded-directories.ts';
import { copyCluster } from './prepared-cluster.ts';

export interface OwnPostgres {
  /** Of a database with an empty, migrated schema `mirror`. */
  readonly url: string;
  /** Ends every connection, and then the server. */
  stop(): Promise<void>;
  /** Ends it as a crash does: nothing more is written. */
  crash(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
  /** Where its configuration files are; what is written there belongs to the server's own account. */
  readonly directory: string;
  /** Returns the rows of one statement, as the server's superuser. */
  query(statement: string): Promise<unknown[]>;
  /** Writes a file into the directory, for the server to read. */
  write(name: string, text: string): Promise<void>;
}

/** Returns the running server. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const log = makeLogger('warn');
  const dataDir = await makeDataDir();
  await copyCluster(inject('preparedCluster'), dataDir);
  let server: EmbeddedPostgres | null = await openEmbeddedPostgres({ log }, { dataDir });
  const { url } = server;
  const stop = async () => {
    await server?.stop();
    server = null;
  };
  afterFile(async () => {
    await stop();
    await removeDataDir(dataDir);
  });
  const pool = makePool({ log }, { url, schema: 'mirror', max: 1, applicationName: 'test' });
  await runMigrations(pool, { schema: 'mirror' });
  await pool.end();
  const directory = join(await realpath(join(dataDir, 'postgres')), 'data');
  return {
    url,
    stop,
    directory,
    async crash() {
      const processes = () => findProcesses(join(directory, '..'));
      // Immediate shutdown: it waits until no process of the server is left, and has none of them write.
      for (const { pid } of await processes()) process.kill(pid, 'SIGQUIT');
      while ((await processes()).length > 0) await sleep(10);
      await stop();
    },
    query: (statement) => query(url, statement),
    async write(name, text) {
      const path = join(directory, name);
      await writeFile(path, text, { mode: 0o600 });
      const { uid, gid } = await stat(directory);
      if (process.getuid?.() === 0) await chown(path, uid, gid);
    },
    async start() {
      server = await openEmbeddedPostgres({ log }, { dataDir });
      if (server.url !== url) throw new Error('Postgres came back at another address');
    },
  };
}
