// A Postgres server of a test's own, which it may stop and start again. It ends with the test file.

import { afterAll, inject } from 'vitest';
import { runMigrations } from '../../src/db/migrate.ts';
import { makePool } from '../../src/db/pool.ts';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/embedded-postgres/embedded-postgres.ts';
import { makeLogger } from '../../src/log.ts';
import { makeDataDir, removeDataDir } from './embedded-directories.ts';
import { copyCluster } from './prepared-cluster.ts';

export interface OwnPostgres {
  /** Of a database with an empty, migrated schema `mirror`. */
  readonly url: string;
  /** Ends every connection, and then the server. */
  stop(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

const closers: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closers) await close();
});

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
  closers.push(async () => {
    await stop();
    await removeDataDir(dataDir);
  });
  const pool = makePool({ log }, { url, schema: 'mirror', max: 1, applicationName: 'test' });
  await runMigrations(pool, { schema: 'mirror' });
  await pool.end();
  return {
    url,
    stop,
    async start() {
      server = await openEmbeddedPostgres({ log }, { dataDir });
      if (server.url !== url) throw new Error('Postgres came back at another address');
    },
  };
}
