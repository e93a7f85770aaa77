// The Postgres that is measured: the embedded one, with the settings that every user of it has (fsync on). Each
// measurement gets a database of its own, migrated and empty.

import { chmod } from 'node:fs/promises';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { findParent, readServerCpuMs } from './server-cpu.ts';
import { makeDirectory } from './start-child.ts';

export interface BenchDatabase {
  readonly name: string;
  readonly url: string;
  readonly pool: Pool;
  /** Returns the server's position in its WAL, in bytes. */
  walPosition(): Promise<number>;
  /** Closes the pool. Idempotent: yes. */
  close(): Promise<void>;
  drop(): Promise<void>;
}

export interface BenchPostgres {
  readonly version: string;
  /**
   * Returns what returns the CPU time of all the server's processes since now, in milliseconds; null on another system
   * than Linux.
   */
  startCpu(): () => number | null;
  /** On a database of its own: what it asks counts in no other. */
  readonly admin: Pool;
  /** With what `like` holds, whose own pool is closed; else with an empty mirror. */
  createDatabase(like?: BenchDatabase): Promise<BenchDatabase>;
}

/** Of every mirror that is measured. */
export const SCHEMA = 'mirror';

/** Returns a running server; it and its directory are removed when the bench ends. */
export async function startBenchPostgres(cleanup: AsyncDisposableStack): Promise<BenchPostgres> {
  // A dropped database ends its connections: that is no error here.
  const log = makeLogger('error');
  const dataDir = makeDirectory(cleanup, 'affiliate-mirror-bench-');
  // It is closed to all others, and root's Postgres runs as another user.
  await chmod(dataDir, 0o755);
  const opening = openEmbeddedPostgres({ log }, { dataDir });
  // Before it is open: a bench that is stopped meanwhile has to wait for it, and stop it.
  cleanup.defer(async () => {
    const opened = await opening.catch(() => null);
    await opened?.stop();
  });
  const server = await opening;
  const open = (url: string) => makePool({ log }, { url, schema: SCHEMA, max: 2, applicationName: 'bench' });
  const admin = open(server.url);
  cleanup.defer(() => admin.end());
  const { rows } = await admin.query<{ version: string; pid: number }>(
    `select current_setting('server_version') as version, pg_backend_pid() as pid`,
  );
  const [{ version, pid } = { version: '', pid: 0 }] = rows;
  const postmaster = findParent(pid);
  let created = 0;
  return {
    version,
    startCpu() {
      if (postmaster === null) return () => null;
      const beforeMs = readServerCpuMs(postmaster);
      return () => readServerCpuMs(postmaster) - beforeMs;
    },
    admin,
    async createDatabase(like) {
      const name = `bench_${++created}`;
      await like?.close();
      await admin.query(`create database ${name} template ${like?.name ?? 'template1'}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      const pool = open(url.href);
      await runMigrations(pool, { schema: SCHEMA });
      let closed: Promise<void> | undefined;
      const close = () => {
        closed ??= pool.end();
        return closed;
      };
      // What was written before a measurement must not be flushed during it.
      await pool.query('checkpoint');
      return {
        name,
        url: url.href,
        pool,
        async walPosition() {
          const answer = await pool.query<{ bytes: string }>(
            `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes`,
          );
          return Number(answer.rows[0]?.bytes);
        },
        close,
        async drop() {
          await close();
          await admin.query(`drop database ${name} with (force)`);
        },
      };
    },
  };
}
